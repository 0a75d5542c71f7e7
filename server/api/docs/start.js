// Swagger UI has dark colours, but does not look at the system's.
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

// A path is no link, as it stands within the button that opens it; the groups stand below a heading.
const structure = ({ React: { createElement } }) => ({
  components: { DeepLink: ({ text }) => createElement("span", null, text) },
  wrapComponents: {
    operations: (Operations) => (props) =>
      createElement("div", null, createElement("h2", { className: "unseen" }, "Requests"), createElement(Operations, props)),
  },
});

// What Swagger UI leaves without a name, a level or a way to scroll it by keyboard.
const missing = [
  [".information-container", { role: "region", "aria-label": "About the API" }],
  ["pre.microlight", { tabindex: "0" }],
  [".body-param__text", { "aria-label": "Request body" }],
  [".examples-select-element", { "aria-label": "Example" }],
  [".modal-ux", { role: "dialog", "aria-modal": "true", "aria-label": "Authorize" }],
  [".modal-ux-header h3", { "aria-level": "2" }],
  [".modal-ux h4", { "aria-level": "3" }],
  [".modal-btn.authorize", { "aria-label": "Authorize" }],
  [".close-modal", { "aria-label": "Close" }],
  [".parameters-col_description select", (field) => ({ "aria-label": field.closest("tr").dataset.paramName })],
  [".responses-table[role]", (table) => ({ "aria-label": table.id })],
];
function complete() {
  for (const [selector, attributes] of missing) {
    for (const found of document.querySelectorAll(selector)) {
      const wanted = typeof attributes === "function" ? attributes(found) : attributes;
      for (const [name, value] of Object.entries(wanted)) if (found.getAttribute(name) !== value) found.setAttribute(name, value);
    }
  }
}
new MutationObserver(complete).observe(document.getElementById("api"), { childList: true, subtree: true });

// Shows the description that this service serves. No validator: that would be asked at another host.
SwaggerUIBundle({
  url: "openapi.yaml",
  dom_id: "#api",
  plugins: [structure],
  syntaxHighlight: { theme: "tomorrow-night" },
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
