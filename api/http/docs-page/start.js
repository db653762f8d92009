// Starts Swagger UI on our own document. A key that is entered stays in the page: nothing is stored in the browser.
globalThis.ui = globalThis.SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#interface',
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  // The validator would be a request to another host.
  validatorUrl: null,
});
