// Shows the description that this service serves. No validator: that would be asked at another host.
SwaggerUIBundle({
  url: "openapi.yaml",
  dom_id: "#api",
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
