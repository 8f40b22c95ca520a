// The layout and the headers of every page.
import { createHash } from 'node:crypto'
import { html, Html } from './html.ts'

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; color: #1c2024; overflow-wrap: anywhere }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin-top: 2rem }
label { display: block; margin: 1rem 0 .25rem } input { font: inherit; padding: .4rem .6rem; width: 100%; box-sizing: border-box }
button { font: inherit; margin-top: 1rem; padding: .4rem 1rem } .note { color: #5b6570 } .said { border-left: 4px solid #2f7d4f; padding-left: 1rem }
@media (prefers-color-scheme: dark) { body { background: #15181b; color: #e6e8ea } .note { color: #9aa4ae } a { color: #8ab4f8 } }
`

/** Not an html template: the policy allows exactly these characters, and a formatter would add some. */
const styleElement = new Html(`<style>${style}</style>`)
const styleHash = createHash('sha256').update(style).digest('base64')

/** `formsTo`: origins that the forms of the page may lead to, beside this server. */
export const pageHeaders = (formsTo: readonly string[] = []): Record<string, string> => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    "img-src 'self'",
    `style-src 'sha256-${styleHash}'`,
    `form-action ${["'self'", ...formsTo].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'X-Frame-Options': 'DENY',
})

export function layout(title: string, content: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Millrace</title>
        <link rel="icon" href="/favicon.ico" type="image/svg+xml" />
        ${styleElement}
      </head>
      <body>
        <h1>${title}</h1>
        ${content}
      </body>
    </html> `.text
}
