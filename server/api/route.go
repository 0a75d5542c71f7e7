package api

import "github.com/gofiber/fiber/v2"

// access is what a route requires of its caller with AUTH=on. docs/access.md has the same table,
// and a test compares them.
type access int

const (
	// open routes need no token and are neither counted nor limited.
	open access = iota
	// signedIn: the caller's token is used for all database calls, and row-level security decides
	// what they see.
	signedIn
	// asViewer: like signedIn, for callers with a role in some project.
	asViewer
	// The remaining routes run with the service's key, for users with this role in some project.
	asMember
	asAdmin
	// projectMember is a member or an admin of the project that the request names.
	projectMember
)

// route is one endpoint.
type route struct {
	method, path string
	needs        access
	handle       fiber.Handler
}

// table lists all endpoints.
func (a *API) table() []route {
	all := []route{
		{fiber.MethodGet, "/healthz", open, a.alive},
		{fiber.MethodGet, "/readyz", open, a.ready},
		{fiber.MethodGet, "/openapi.yaml", open, describeYAML},
		{fiber.MethodGet, "/openapi.json", open, describeJSON},
		{fiber.MethodGet, "/docs", open, docsPage},
		{fiber.MethodGet, resourcePath, open, a.resource},
		{fiber.MethodGet, resourcePath + mcpPath, open, a.resource},
		{fiber.MethodGet, "/docs/:file", open, docsFile},
		{fiber.MethodPost, "/api/query", signedIn, a.query},
		{fiber.MethodPost, "/api/hybrid-search", signedIn, a.hybridSearch},
		{fiber.MethodPost, "/api/tickets/similar", signedIn, a.similarToDraft},
		{fiber.MethodPost, "/api/tickets/similar/batch", signedIn, a.similarToMany},
		{fiber.MethodGet, "/api/tickets/:ticket_id/similar", signedIn, a.similarTickets},
		{fiber.MethodGet, "/api/tickets/:ticket", signedIn, a.ticket},
		{fiber.MethodGet, "/api/me", signedIn, a.me},
		{fiber.MethodGet, "/api/projects", signedIn, a.projects},
		{fiber.MethodGet, "/api/statuses", signedIn, a.statuses},
		{fiber.MethodGet, "/api/knowledge/search", signedIn, a.searchDocuments},
		{fiber.MethodGet, "/api/knowledge/entities/:name", signedIn, a.documentsByEntity},
		{fiber.MethodGet, "/api/knowledge/documents/:id", signedIn, a.getDocument},
		{fiber.MethodGet, "/api/knowledge/documents/:id/similar", signedIn, a.similarDocuments},
		{fiber.MethodPost, "/api/knowledge/documents/:id/feedback", asViewer, a.rateDocument},
		{fiber.MethodPost, "/api/knowledge/documents", asAdmin, a.putDocument},
		{fiber.MethodDelete, "/api/knowledge/documents/:id", asAdmin, a.deleteDocument},
		{fiber.MethodPost, "/api/knowledge/enrich/batch", asAdmin, a.enrichBatch},
		{fiber.MethodGet, "/api/knowledge/enrich/stats", asAdmin, a.enrichStats},
		{fiber.MethodGet, "/api/embeddings/status", asAdmin, a.embeddingStatus},
		{fiber.MethodPost, "/api/embeddings/generate", projectMember, a.generateEmbeddings},
		{fiber.MethodPost, mcpPath, signedIn, a.serveMCP},
	}
	if a.Console != nil {
		all = append(all, route{fiber.MethodGet, "/", open, a.consolePage}, route{fiber.MethodGet, "/console/:version/:file", open, a.consoleFile})
	}
	if a.MetricsHere {
		all = append(all, route{fiber.MethodGet, "/metrics", open, a.metrics})
	}
	return all
}

func (a *API) routes() {
	a.app.Use(a.identify, a.recoverPanic, a.refuseForeignNames, a.preflight)
	for _, r := range a.table() {
		handlers := []fiber.Handler{r.handle}
		if r.needs != open {
			handlers = []fiber.Handler{a.refusePages, a.bound, a.admit(r.needs), fewParameters, r.handle}
		}
		if r.method == fiber.MethodGet {
			a.app.Get(r.path, handlers...) // and HEAD
		} else {
			a.app.Add(r.method, r.path, handlers...)
		}
	}
}
