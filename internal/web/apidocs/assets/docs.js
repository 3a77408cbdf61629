// How the reference is shown. Everything that would reach outside the service
// is off: fonts, telemetry, the hosted client, the assistant and the proxy.
"use strict";

Scalar.createApiReference("#reference", {
  url: "/openapi.yaml",
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false,
  withDefaultFonts: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  persistAuth: false,
  hideModels: true,
  documentDownloadType: "direct",
  defaultOpenAllTags: true,
  orderSchemaPropertiesBy: "preserve",
  orderRequiredPropertiesFirst: false,
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
});
