// The security schemes of the document contain no references. Swagger UI would resolve the whole document for them before it
// renders the first operation, which needs more than half of the loading time.
const resolvedSecuritySchemes = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        requestResolvedSubtree: (request, { specActions, specSelectors }) => (path) =>
          path.join("/") === "components/securitySchemes"
            ? specActions.updateResolvedSubtree(path, specSelectors.specJson().getIn(path).toJS())
            : request(path),
      },
    },
  },
});

SwaggerUIBundle({
  url: "/v1/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "none",
  plugins: [resolvedSecuritySchemes],
  // The validator's badge would be loaded from another host.
  validatorUrl: "none",
});
