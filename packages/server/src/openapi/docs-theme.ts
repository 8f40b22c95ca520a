/**
 * The look of the API's page: the colours of packages/web/src/tokens.css, in light and dark. The id is stronger than every rule
 * of Swagger UI's own style sheet, which knows white only.
 */
export const themeStyle = `:root {
  color-scheme: light dark;
  --canvas: light-dark(oklch(0.985 0.002 255), oklch(0.165 0.008 255));
  --surface: light-dark(oklch(1 0 0), oklch(0.2 0.009 255));
  --sunken: light-dark(oklch(0.965 0.003 255), oklch(0.145 0.008 255));
  --border: light-dark(oklch(0.9 0.006 255), oklch(0.3 0.01 255));
  --edge: light-dark(oklch(0.62 0.012 255), oklch(0.56 0.014 255));
  --text: light-dark(oklch(0.25 0.015 255), oklch(0.93 0.005 255));
  --muted: light-dark(oklch(0.47 0.015 255), oklch(0.73 0.012 255));
  --link: light-dark(oklch(0.48 0.14 255), oklch(0.76 0.12 250));
  --focus: light-dark(oklch(0.55 0.18 255), oklch(0.7 0.15 250));
  --primary: light-dark(oklch(0.27 0.015 255), oklch(0.93 0.005 255));
  --primary-text: light-dark(oklch(0.985 0.002 255), oklch(0.2 0.009 255));
  --failed: light-dark(oklch(0.53 0.195 27), oklch(0.73 0.165 25));
}

:root[data-theme='light'] { color-scheme: light; }
:root[data-theme='dark'] { color-scheme: dark; }

body { margin: 0; background: var(--canvas); color: var(--text); font: 14px/20px system-ui, sans-serif; }

#docs * {
  border-color: var(--border);
  background-color: transparent;
  color: inherit;
  font-family: system-ui, sans-serif;
  text-shadow: none;
  box-shadow: none;
}

#docs .wrapper { box-sizing: border-box; max-width: 1440px; padding: 0 24px; }
#docs .scheme-container { margin: 0; padding: 0; }
#docs .info { margin: 24px 0; }
#docs .info .title { font: 550 20px/28px system-ui, sans-serif; }
#docs .info .title small, #docs .info .title small pre { top: 0; padding: 0 4px; color: var(--muted); }
#docs :is(.markdown, .renderedMarkdown) :is(p, li) { font: inherit; }
#docs a { color: var(--link); }
#docs :is(a, button, input, select, textarea, [tabindex]):focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }

#docs .opblock-tag { padding: 8px 0; font: 550 16px/24px system-ui, sans-serif; }
#docs .opblock { margin: 0 0 8px; border: 1px solid var(--border); border-radius: 6px; background: var(--surface); }
#docs .opblock-summary { border: 0; padding: 4px 8px; }
#docs .opblock.is-open .opblock-summary { border-bottom: 1px solid var(--border); }
#docs .opblock-summary-method { min-width: 64px; padding: 4px 0; border-radius: 4px; background: var(--sunken); font: 550 12px/16px system-ui, sans-serif; }
#docs .opblock-delete .opblock-summary-method { color: var(--failed); }
#docs .opblock-summary-path, #docs .opblock-summary-path * { font: 13px/20px ui-monospace, Menlo, Consolas, monospace; }
#docs .opblock-summary-description { color: var(--muted); font-size: 13px; }
#docs .opblock-body { overflow-x: auto; }
/* No answer names a next operation. */
#docs .response-col_links { display: none; }
#docs .opblock-section-header { min-height: 0; padding: 8px 16px; background: var(--sunken); }
#docs :is(.parameter__type, .parameter__in, .parameter__extension, .prop-format, .response-col_links, .model-hint) { color: var(--muted); }
#docs :is(.required, .parameter__name.required::after, .errors) { color: var(--failed); }
#docs table :is(th, td, .col_header) { border-color: var(--border); font-size: 13px; }

#docs :is(code, pre, .microlight, .microlight *, textarea) { font: 12px/20px ui-monospace, Menlo, Consolas, monospace; }
#docs :is(pre, .microlight) { border-radius: 4px; background: var(--sunken); }
#docs code { padding: 0 4px; border-radius: 4px; background: var(--sunken); }
#docs pre code { padding: 0; }

#docs :is(input, select, textarea) { border: 1px solid var(--edge); border-radius: 6px; background: var(--surface); font-size: 13px; }
#docs select { appearance: auto; padding: 4px 8px; }
#docs .btn { border: 1px solid var(--border); border-radius: 6px; background: var(--surface); font: 13px/20px system-ui, sans-serif; }
#docs .btn:is(.execute, .authorize) { border-color: var(--primary); background: var(--primary); color: var(--primary-text); }
#docs .btn:is(.execute, .authorize) * { color: inherit; fill: currentColor; }
#docs .btn.cancel { border-color: var(--failed); color: var(--failed); }
#docs svg { fill: currentColor; }

#docs .dialog-ux .modal-ux { border: 1px solid var(--border); border-radius: 10px; background: var(--surface); }
#docs .dialog-ux .backdrop-ux { background: oklch(0.08 0.005 255 / 0.5); }
#docs :is(.model-box, section.models, .model-container) { background: var(--sunken); }

@media (max-width: 640px) {
  #docs .wrapper { padding: 0 12px; }
  #docs .opblock-summary { flex-wrap: wrap; }
  #docs .opblock-summary-path { max-width: 100%; overflow-wrap: anywhere; }
}
`
