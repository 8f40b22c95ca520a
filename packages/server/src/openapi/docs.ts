// The API's OpenAPI document, the same as Markdown, and a page that renders it without loading anything from other hosts.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { writeYaml } from '@millrace/engine/yaml.ts'
import { packageFolder, resolveDependency } from '../lib/package-files.ts'
import { cutDocument } from './cut-document.ts'
import { themeStyle } from './docs-theme.ts'
import { markdownDocs, type MarkdownDocs } from './markdown.ts'
import { openApiDocument, type Examples } from './document.ts'
import type { Slices } from '../http/route.ts'

// The only files served from disk. No part of a URL becomes a path.
const assets = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
} as const

/**
 * All references of our document lead to its components, and none of these contains itself. Swagger UI's general resolver
 * would process the whole document for each operation, which blocks the page for a second; this one follows references.
 */
const startScript = `const find = (document, path) => path.reduce((whole, key) => whole?.[key], document)

const follow = (part, document) => {
  if (Array.isArray(part)) return part.map((item) => follow(item, document))
  if (typeof part !== 'object' || part === null) return part
  const { $ref, ...rest } = part
  const own = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, follow(value, document)]))
  if ($ref === undefined) return own
  return { ...follow(find(document, $ref.split('/').slice(1)), document), ...own, $$ref: $ref }
}

const resolveSubtree = async (document, path) => {
  return { spec: follow(find(document, path), document), errors: [] }
}

// Swagger UI has links in buttons, and buttons whose names are missing or differ from their text.
const nameControls = () => {
  for (const link of document.querySelectorAll('.opblock-summary-control a[href]')) link.removeAttribute('href')
  for (const button of document.querySelectorAll('.close-modal:not([aria-label])')) button.setAttribute('aria-label', 'Close')
  for (const button of document.querySelectorAll('.modal-btn[aria-label]')) button.removeAttribute('aria-label')
}

// There is one server, and a choice of one is none.
const withoutServers = { wrapComponents: { ServersContainer: () => () => null } }

window.addEventListener('load', () => {
  new MutationObserver(nameControls).observe(document.body, { childList: true, subtree: true })
  SwaggerUIBundle({ url: '/v2/openapi.json', dom_id: '#docs', deepLinking: true, docExpansion: 'none',
    filter: true, persistAuthorization: true, tryItOutEnabled: true, syntaxHighlight: false,
    plugins: [{ fn: { resolveSubtree } }, withoutServers] })
})`

/** The theme that was chosen in the pages. */
const themeScript = `try {
  const theme = localStorage.getItem('millrace.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Without storage the theme of the system counts.
}`

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Millrace API</title>
<script src="/docs/theme.js"></script>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/theme.css">
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
</head>
<body>
<main id="docs"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

const readExamples = async (): Promise<Examples> =>
  JSON.parse(await readFile(join(packageFolder, 'examples.json'), 'utf8')) as Examples

/** A wheel with eight spokes above water. Browsers use the Content-Type and ignore the file extension. */
const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="6" fill="#1f4f6b"/>
<g fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round">
<circle cx="16" cy="14" r="8"/>
<path d="M16 4v20M6 14h20M9 7l14 14M23 7L9 21"/>
<path d="M4 27q4-3 8 0t8 0t8 0" stroke="#7cc4e8"/>
</g>
</svg>
`

const markdownType = 'text/markdown; charset=utf-8'

const policy =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"

/** Public text, which programs in browsers read too. */
const forAnyOrigin = { config: { crossOrigin: true } }

const catalogPath = '/.well-known/api-catalog'
const catalogProfile = 'https://www.rfc-editor.org/info/rfc9727'

/** The APIs of this installation, as RFC 9727 lists them. */
const catalogOf = (baseUrl: string) => ({
  linkset: [
    {
      anchor: `${baseUrl}/v2`,
      'service-desc': [{ href: `${baseUrl}/v2/openapi.json`, type: 'application/json' }],
      'service-doc': [
        { href: `${baseUrl}/docs`, type: 'text/html' },
        { href: `${baseUrl}/docs.md`, type: 'text/markdown' },
      ],
      status: [{ href: `${baseUrl}/readyz` }],
    },
  ],
})

export function serveDocs(app: FastifyInstance, baseUrl: string, slices: Slices): void {
  // Made on the first request, which saves about 50 ms of the start.
  let document: string | undefined
  let markdown: MarkdownDocs | undefined
  const readDocument = async () => openApiDocument(baseUrl, slices, await readExamples())
  const readMarkdown = async () => (markdown ??= markdownDocs(baseUrl, await readDocument()))
  // Generic tools look for the document at the second URL.
  for (const address of ['/v2/openapi.json', '/openapi.json']) {
    app.get(address, forAnyOrigin, async (_request, reply) => {
      document ??= JSON.stringify(await readDocument())
      return reply.type('application/json').send(document)
    })
  }
  let ofTests: string | undefined
  app.get('/v2/analytics/openapi.yaml', forAnyOrigin, async (_request, reply) => {
    ofTests ??= writeYaml(cutDocument(await readDocument(), '/v2/analytics/'))
    return reply.type('application/yaml').send(ofTests)
  })
  app.get(catalogPath, forAnyOrigin, async (_request, reply) =>
    reply
      .type(`application/linkset+json; profile="${catalogProfile}"`)
      .header('Link', `<${baseUrl}${catalogPath}>; rel="api-catalog"`)
      // Fastify would add a charset to the type of a text.
      .send(Buffer.from(JSON.stringify(catalogOf(baseUrl)))),
  )
  app.get('/favicon.ico', async (_request, reply) =>
    reply.headers({ 'Cache-Control': 'max-age=86400', 'Content-Type': 'image/svg+xml' }).send(favicon),
  )
  app.get('/docs', async (request, reply) => {
    void reply.header('Vary', 'Accept')
    const { accept = '' } = request.headers
    if (/^text\/markdown\b/i.test(accept)) return reply.type(markdownType).send((await readMarkdown()).index)
    return reply.header('Content-Security-Policy', policy).type('text/html; charset=utf-8').send(page)
  })
  app.get('/docs.md', forAnyOrigin, async (_request, reply) =>
    reply.type(markdownType).send((await readMarkdown()).index),
  )
  app.get('/llms.txt', forAnyOrigin, async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send((await readMarkdown()).llms),
  )
  for (const group of Object.keys(slices)) {
    app.get(`/docs/${group}.md`, forAnyOrigin, async (_request, reply) =>
      reply.type(markdownType).send((await readMarkdown()).groups.get(group)),
    )
  }
  const scripts = { start: startScript, theme: themeScript }
  for (const [name, script] of Object.entries(scripts))
    app.get(`/docs/${name}.js`, async (_request, reply) => reply.type('text/javascript').send(script))
  app.get('/docs/theme.css', async (_request, reply) => reply.type('text/css').send(themeStyle))
  for (const [name, type] of Object.entries(assets)) {
    let content: Buffer | undefined
    app.get(`/docs/${name}`, async (_request, reply) => {
      content ??= await readFile(resolveDependency(`swagger-ui-dist/${name}`))
      return reply.header('Cache-Control', 'max-age=86400').type(type).send(content)
    })
  }
}
