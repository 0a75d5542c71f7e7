package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"tasklens/internal/identity"
	"tasklens/scripts/lab/gateway"
)

// platform is what a Supabase project has beside PostgREST's functions, as far as verify-live needs
// it: Auth with users, tokens and its key set, and PostgREST's tables. Every request needs the
// service's key.
type platform struct {
	functions http.Handler // of the gateway or PostgREST, which verify HS256 with this secret
	secret    []byte
	database  string // the owner's
	key       *ecdsa.PrivateKey
	keys      []any // as the key set lists it
	mutex     sync.Mutex
	users     []account
}

type account struct {
	ID       string `json:"id"`
	Email    string `json:"email"`
	Password string `json:"password,omitempty"`
}

const platformKey = "stand-in" // the key's name

func newPlatform(functions http.Handler, c devConfig) (*platform, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	point, err := key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		return nil, err
	}
	text := base64.RawURLEncoding.EncodeToString
	return &platform{functions: functions, secret: []byte(c.JWTSecret), database: c.PlatformURL, key: key, keys: []any{
		map[string]string{"kty": "EC", "crv": "P-256", "alg": "ES256", "kid": platformKey, "x": text(point[1:33]), "y": text(point[33:])},
	}}, nil
}

func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/rest/v1/rpc/") {
		p.call(w, r)
		return
	}
	status := http.StatusOK
	value, err := p.answer(w, r)
	if err != nil {
		status, value = http.StatusBadRequest, map[string]string{"message": err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client may have left
}

func (p *platform) answer(w http.ResponseWriter, r *http.Request) (any, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch r.URL.Path {
	case "/auth/v1/.well-known/jwks.json":
		return map[string]any{"keys": p.keys}, nil
	case "/.well-known/oauth-authorization-server/auth/v1":
		return map[string]any{}, nil
	}
	claims := jwt.MapClaims{}
	_, err := jwt.ParseWithClaims(r.Header.Get("apikey"), claims, func(*jwt.Token) (any, error) { return p.secret, nil }, jwt.WithValidMethods([]string{"HS256"}))
	if err != nil || claims["role"] != identity.RoleService {
		return nil, errors.New("the API key is not valid")
	}
	if table, is := strings.CutPrefix(r.URL.Path, "/rest/v1/"); is {
		return p.rows(w, r, table)
	}
	return p.auth(r)
}

// auth creates, lists and deletes users, and signs them in.
func (p *platform) auth(r *http.Request) (any, error) {
	var given account
	if r.Method == http.MethodPost {
		if err := json.NewDecoder(r.Body).Decode(&given); err != nil {
			return nil, err
		}
	}
	switch path := strings.TrimPrefix(r.URL.Path, "/auth/v1/"); {
	case path == "admin/users" && r.Method == http.MethodPost:
		given.ID = uuid.NewString()
		p.users = append(p.users, given)
		return given, nil
	case path == "admin/users":
		return map[string]any{"users": p.users}, nil
	case path == "token":
		at := slices.IndexFunc(p.users, func(a account) bool { return a.Email == given.Email && a.Password == given.Password })
		if at < 0 {
			return nil, errors.New("invalid login credentials")
		}
		claims, err := gateway.UserClaims("http://"+r.Host, identity.RoleUser, p.users[at].ID)
		if err != nil {
			return nil, err
		}
		token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims(claims))
		token.Header["kid"] = platformKey
		signed, err := token.SignedString(p.key)
		return map[string]string{"access_token": signed}, err
	}
	p.users = slices.DeleteFunc(p.users, func(a account) bool { return strings.HasSuffix(r.URL.Path, "/"+a.ID) })
	return map[string]any{}, nil
}

// call passes a user's token on signed with the secret.
func (p *platform) call(w http.ResponseWriter, r *http.Request) {
	claims := jwt.MapClaims{}
	_, err := jwt.ParseWithClaims(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), claims,
		func(*jwt.Token) (any, error) { return &p.key.PublicKey, nil }, jwt.WithValidMethods([]string{"ES256"}))
	if err == nil {
		if token, err := gateway.Token(p.secret, claims); err == nil {
			r.Header.Set("Authorization", "Bearer "+token)
		}
	}
	p.functions.ServeHTTP(w, r)
}

// conditions are PostgREST's filters, as far as they are needed.
var conditions = map[string]string{
	"eq": "%s::text = $%d", "in": "%s::text = any ($%d::text[])", "cs": "%s @> $%d::text[]", "is": "%s is not distinct from nullif($%d, 'null')::bigint",
}

// rows reads, inserts, updates or deletes rows of a table.
func (p *platform) rows(w http.ResponseWriter, r *http.Request, table string) (any, error) {
	ctx := context.WithoutCancel(r.Context())
	db, err := pgx.Connect(ctx, p.database)
	if err != nil {
		return nil, err
	}
	defer db.Close(ctx)
	table = pgx.Identifier{"public", table}.Sanitize()
	where, values := " where true", []any{}
	for name, given := range r.URL.Query() {
		filter, negated := strings.CutPrefix(given[0], "not.")
		operator, value, _ := strings.Cut(filter, ".")
		if condition, known := conditions[operator]; known {
			values = append(values, strings.NewReplacer("(", "{", ")", "}").Replace(value))
			where += fmt.Sprintf(" and ("+condition+") <> %t", pgx.Identifier{name}.Sanitize(), len(values), negated)
		} else if name != "select" {
			return nil, fmt.Errorf("the stand-in does not know the filter %s=%s", name, given[0])
		}
	}
	switch r.Method {
	case http.MethodGet:
		var count int
		var list json.RawMessage
		err := db.QueryRow(ctx, fmt.Sprintf("select (select count(*) from %[1]s%[2]s), (select coalesce(json_agg(t), '[]') from (select %[3]s from %[1]s%[2]s limit %[4]d) t)",
			table, where, r.URL.Query().Get("select"), gateway.MaxRows), values...).Scan(&count, &list)
		w.Header().Set("Content-Range", fmt.Sprintf("*/%d", count))
		return list, err
	case http.MethodDelete:
		_, err = db.Exec(ctx, "delete from "+table+where, values...)
		return nil, err
	}
	var sent []map[string]any // PATCH sends one
	var body json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	if r.Method == http.MethodPatch {
		body = slices.Concat([]byte("["), body, []byte("]"))
	}
	if err := json.Unmarshal(body, &sent); err != nil || len(sent) == 0 {
		return nil, fmt.Errorf("no rows: %w", err)
	}
	var columns []string
	for name := range sent[0] {
		columns = append(columns, pgx.Identifier{name}.Sanitize())
	}
	names := strings.Join(columns, ", ")
	values = append(values, string(body))
	chosen := fmt.Sprintf("select %s from json_populate_recordset(null::%s, $%d)", names, table, len(values))
	if r.Method == http.MethodPatch {
		_, err = db.Exec(ctx, "update "+table+" set ("+names+") = ("+chosen+")"+where, values...)
	} else {
		_, err = db.Exec(ctx, "insert into "+table+" ("+names+") "+chosen, values...)
	}
	return nil, err
}
