// The layout and the headers of every page.
import { createHash } from 'node:crypto'
import { html, Html } from './html.ts'
import type { PageScript } from './page.ts'
import { pageScript, pageScriptHash } from './page-script.ts'

/** The colours and sizes of packages/web/src/tokens.css that these pages use. */
const style = `
:root {
  color-scheme: light dark;
  --canvas: light-dark(oklch(.985 .002 255), oklch(.165 .008 255)); --surface: light-dark(oklch(1 0 0), oklch(.2 .009 255));
  --hover: light-dark(oklch(.955 .004 255), oklch(.235 .01 255)); --border: light-dark(oklch(.9 .006 255), oklch(.3 .01 255));
  --edge: light-dark(oklch(.62 .012 255), oklch(.56 .014 255)); --text: light-dark(oklch(.25 .015 255), oklch(.93 .005 255));
  --muted: light-dark(oklch(.47 .015 255), oklch(.73 .012 255)); --link: light-dark(oklch(.48 .14 255), oklch(.76 .12 250));
  --focus: light-dark(oklch(.55 .18 255), oklch(.7 .15 250)); --primary: light-dark(oklch(.27 .015 255), oklch(.93 .005 255));
  --primary-text: light-dark(oklch(.985 .002 255), oklch(.2 .009 255)); --passed: light-dark(oklch(.5 .125 152), oklch(.78 .16 152));
  --passed-tint: light-dark(oklch(.955 .035 152), oklch(.27 .05 152)); --failed: light-dark(oklch(.53 .195 27), oklch(.73 .165 25));
  --failed-tint: light-dark(oklch(.955 .022 20), oklch(.27 .065 25));
}
* { box-sizing: border-box }
body { margin: 0; background: var(--canvas); color: var(--text); font: 14px/20px system-ui, sans-serif; overflow-wrap: anywhere }
main { max-width: 392px; margin: 0 auto; padding: 64px 16px 48px }
.brand { margin: 0 0 24px; color: var(--muted); font-weight: 550 } .brand a { color: inherit; text-decoration: none }
h1 { margin: 0 0 16px; font: 550 20px/28px system-ui, sans-serif } h2 { margin: 32px 0 0; font: 550 16px/24px system-ui, sans-serif }
p { margin: 12px 0 } a { color: var(--link) } code { font: 13px/20px ui-monospace, Menlo, Consolas, monospace }
label { display: block; margin: 16px 0 4px; font-size: 13px; font-weight: 550 }
input, select { display: block; width: 100%; height: 36px; padding: 0 12px; border: 1px solid var(--edge); border-radius: 6px; background: var(--surface); color: var(--text); font: inherit }
input[readonly] { border-color: var(--border); background: transparent; color: var(--muted) }
button, a.primary { display: block; width: 100%; height: 36px; margin-top: 16px; padding: 0 12px; border: 1px solid var(--edge); border-radius: 6px; background: var(--surface); color: var(--text); font: 550 14px/34px system-ui, sans-serif; text-align: center; text-decoration: none; cursor: pointer }
button:hover { background: var(--hover) }
button.primary, a.primary { border-color: var(--primary); background: var(--primary); color: var(--primary-text) } button.primary:hover, a.primary:hover { opacity: .9 }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }
details { margin-top: 24px; padding-top: 16px; border-top: 1px solid var(--border) } summary { color: var(--muted); cursor: pointer }
form.row { display: flex; gap: 8px } form.row button { width: auto; flex: auto; white-space: nowrap } details + details { margin-top: 16px } details + .note { margin-top: 24px; padding-top: 16px; border-top: 1px solid var(--border) } ul { margin: 16px 0; padding: 0; list-style: none }
li { display: flex; justify-content: space-between; gap: 16px; padding: 8px 0; border-top: 1px solid var(--border) }
.note { color: var(--muted); font-size: 13px } .said, .problem { padding: 8px 12px; border-radius: 6px }
.said { background: var(--passed-tint); color: var(--passed) } .problem { background: var(--failed-tint); color: var(--failed) }
@media (pointer: coarse) { input, select, button, a.primary { height: 44px; font-size: 16px } a.primary { line-height: 42px } }
`

/** Not html templates: the policy allows exactly these characters, and a formatter would add some. */
const styleElement = new Html(`<style>${style}</style>`)
const scriptElement = new Html(`<script>${pageScript}</script>`)
const styleHash = createHash('sha256').update(style).digest('base64')

/** `formsTo`: origins that the forms of the page may lead to, beside this server. */
export const pageHeaders = (formsTo: readonly string[] = []): Record<string, string> => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    "img-src 'self'",
    `style-src 'sha256-${styleHash}'`,
    `script-src 'sha256-${pageScriptHash}'`,
    "connect-src 'self'",
    `form-action ${["'self'", ...formsTo].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'X-Frame-Options': 'DENY',
})

export function layout(title: string, content: Html, script?: PageScript): string {
  return html`<!doctype html>
    <html lang="en" ${dataOf(script)}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Millrace</title>
        <link rel="icon" href="/favicon.ico" type="image/svg+xml" />
        ${styleElement}
      </head>
      <body>
        <main>
          <p class="brand"><a href="/">Millrace</a></p>
          <h1>${title}</h1>
          ${content}
        </main>
        ${scriptElement}
      </body>
    </html> `.text
}

const dataOf = (script: PageScript | undefined): Html | null =>
  script === undefined
    ? null
    : script.does === 'keep'
      ? html`data-does="keep" data-secret="${script.secret ?? ''}" data-to="${script.to}"`
      : html`data-does="prove" data-path="${script.path}"`
