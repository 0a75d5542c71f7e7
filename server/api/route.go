package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/answer"
	"tasklens/internal/knowledge"
	"tasklens/server/observe"
)

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
	// asAdmin runs with the service's key, for users with this role in some project.
	asAdmin
	// projectMember does too, for members and admins of the project that the request names.
	projectMember
)

// route is one endpoint.
type route struct {
	method, path string
	needs        access
	endpoint
	about
}

// about is what the document says of a route; operations.md says more.
type about struct {
	id, tag, summary string
	also             []int // statuses that not every operation has, or cached
}

// cached is in place of a status: the response has a Cache-Status.
const cached = 0

// table lists all endpoints.
func (a *API) table() []route {
	all := []route{
		{fiber.MethodGet, "/healthz", open, plain[nothing, aliveResponse, nothing](a.alive), about{"alive", "operations", "Check that the program runs", nil}},
		{fiber.MethodGet, "/readyz", open, plain[nothing, readyResponse, notReadyResponse](a.ready), about{"ready", "operations", "Check that requests can be answered", nil}},
		{fiber.MethodGet, "/openapi.yaml", open, files[nothing](describeYAML, "application/yaml"), about{"describe", "operations", "Read this document", []int{304}}},
		{fiber.MethodGet, "/openapi.json", open, plain[nothing, anyDocument, nothing](describeJSON), about{"describeAsJSON", "operations", "Read this document as JSON", []int{304}}},
		{fiber.MethodGet, "/docs", open, files[nothing](a.docsPage, "text/html"), about{"docs", "operations", "Read this document as a page", []int{304}}},
		{fiber.MethodGet, resourcePath, open, plain[nothing, resourceMetadata, nothing](a.resource), about{"describeResource", "assistants", "Name the server that gives tokens", []int{404}}},
		{fiber.MethodGet, resourcePath + mcpPath, open, plain[nothing, resourceMetadata, nothing](a.resource), about{"describeMcpResource", "assistants", "Name the server that gives tokens, by the path of the resource", []int{404}}},
		{fiber.MethodGet, "/docs/:file", open, files[docsPart](docsFile, "text/css", "text/html", "text/javascript"), about{"docsFile", "operations", "Read a part of that page", []int{304, 404}}},
		{fiber.MethodPost, "/api/query", signedIn, operates[queryRequest, answer.Answer](a.query).streams(answerKinds, sends[queryRequest, answer.Answer](a.serveQuery)), about{"query", "search", "Answer a question from tickets, projects or documents", []int{502, cached}}},
		{fiber.MethodPost, "/api/hybrid-search", signedIn, operates[searchRequest, searchResponse](a.hybridSearch), about{"hybridSearch", "search", "Find tickets and projects by keywords and by meaning", []int{cached}}},
		{fiber.MethodPost, "/api/tickets/similar", signedIn, answers(a.similarToDraft), about{"similarToDraft", "search", "Find likely duplicates of a ticket that is not filed yet", []int{502}}},
		{fiber.MethodGet, "/api/tickets/:ticket_id/similar", signedIn, answers(a.similarTickets), about{"similarTickets", "search", "Find likely duplicates of a ticket", []int{404, 502}}},
		{fiber.MethodGet, "/api/tickets/:ticket", signedIn, answers(a.ticket), about{"getTicket", "search", "Read a whole ticket", []int{404}}},
		{fiber.MethodGet, "/api/me", signedIn, answers(a.me), about{"me", "operations", "What the caller may do", nil}},
		{fiber.MethodGet, "/api/projects", signedIn, answers(a.projects), about{"listProjects", "filters", "List projects", nil}},
		{fiber.MethodPost, "/api/projects/:project_id/language", signedIn, answers(a.setLanguage), about{"setProjectLanguage", "filters", "Set the language of a project", []int{404}}},
		{fiber.MethodGet, "/api/statuses", signedIn, answers(a.statuses), about{"listStatuses", "filters", "List statuses", nil}},
		{fiber.MethodGet, "/api/knowledge/search", signedIn, answers(a.searchDocuments), about{"searchDocuments", "knowledge", "Find documents", []int{502}}},
		{fiber.MethodGet, "/api/knowledge/entities/:name", signedIn, answers(a.documentsByEntity), about{"documentsByEntity", "knowledge", "Find documents that name a person, a system or the like", nil}},
		{fiber.MethodGet, "/api/knowledge/documents/:id", signedIn, answers(a.getDocument), about{"getDocument", "knowledge", "Read a document", []int{404}}},
		{fiber.MethodGet, "/api/knowledge/documents/:id/similar", signedIn, answers(a.similarDocuments), about{"similarDocuments", "knowledge", "Find documents similar to one", []int{404}}},
		{fiber.MethodPost, "/api/knowledge/documents/:id/feedback", asViewer, answers(a.rateDocument), about{"rateDocument", "knowledge", "Vote on a document", []int{404}}},
		{fiber.MethodPost, "/api/knowledge/documents", asAdmin, operates[knowledge.Draft, knowledge.Written](a.putDocument), about{"putDocument", "knowledge", "Add a document, or replace one", nil}},
		{fiber.MethodDelete, "/api/knowledge/documents/:id", asAdmin, answers(a.deleteDocument), about{"deleteDocument", "knowledge", "Delete a document", []int{404}}},
		{fiber.MethodPost, "/api/knowledge/enrich/batch", asAdmin, answers(a.enrichBatch), about{"enrichBatch", "knowledge", "Enrich documents with keywords, entities and a temporal class", []int{502}}},
		{fiber.MethodGet, "/api/knowledge/enrich/stats", asAdmin, answers(a.enrichStats), about{"enrichStats", "knowledge", "Count enriched documents", nil}},
		{fiber.MethodGet, "/api/embeddings/status", asAdmin, answers(a.embeddingStatus), about{"embeddingStatus", "embeddings", "Read the state of the embedding queue", nil}},
		{fiber.MethodPost, "/api/embeddings/generate", projectMember, answers(a.generateEmbeddings), about{"generateEmbeddings", "embeddings", "Embed a ticket, a comment or a project now", []int{404, 502}}},
		{fiber.MethodPost, mcpPath, signedIn, plain[rpcMessage, rpcResponse, rpcError](a.serveMCP), about{"mcp", "assistants", "Call tools by the Model Context Protocol", nil}},
	}
	if a.Console != nil {
		all = append(all,
			route{fiber.MethodGet, "/", open, files[nothing](a.consolePage, "text/html"), about{"console", "operations", "Open the console", []int{304, 404}}},
			route{fiber.MethodGet, "/console/:version/:file", open, files[consolePart](a.consoleFile, "text/css", "text/javascript", "image/svg+xml"), about{"consoleFile", "operations", "Read a part of the console", []int{304, 404}}})
	}
	if a.MetricsHere {
		all = append(all, route{fiber.MethodGet, "/metrics", open, files[nothing](a.metrics, "text/plain"), about{"metrics", "operations", "Read metrics for Prometheus", []int{404, 503}}})
	}
	return all
}

func (a *API) routes() {
	a.app.Use(a.identify, a.refuseForeignNames, a.preflight)
	// Otherwise this would be a ticket of that name.
	a.app.All("/api/tickets/similar", func(c *fiber.Ctx) error {
		if c.Method() == fiber.MethodPost {
			return c.Next()
		}
		c.Set(fiber.HeaderAllow, fiber.MethodPost)
		return fiber.ErrMethodNotAllowed
	})
	a.operations = a.table()
	for _, r := range a.operations {
		handle := func(c *fiber.Ctx) error { return a.handle(c, r) }
		if r.method == fiber.MethodGet {
			a.app.Get(r.path, handle) // and HEAD
		} else {
			a.app.Add(r.method, r.path, handle)
		}
	}
}

// handle takes a request of a route through its stages.
func (a *API) handle(c *fiber.Ctx, r route) error {
	exchangeOf(c.UserContext()).route = r.path
	if r.needs == open {
		return r.serve(c, nil)
	}
	if err := a.refusePages(c); err != nil {
		return err
	}
	if err := a.countInFlight(c, "", observe.LimitInFlight, a.Limits.InFlight, errBusy); err != nil {
		return err
	}
	who, err := a.admit(c, r.needs)
	if err != nil {
		return err
	}
	return r.serve(c, who)
}
