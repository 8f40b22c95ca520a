// The API's OpenAPI document, the same as Markdown, and a page that renders it without loading anything from other hosts.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { packageFolder, resolveDependency } from '../lib/package-files.ts'
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

window.addEventListener('load', () => {
  SwaggerUIBundle({ url: '/v2/openapi.json', dom_id: '#docs', deepLinking: true, docExpansion: 'none',
    filter: true, persistAuthorization: true, tryItOutEnabled: true, plugins: [{ fn: { resolveSubtree } }] })
})`

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Millrace API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
</head>
<body>
<div id="docs"></div>
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
  app.get('/docs/start.js', async (_request, reply) => reply.type('text/javascript').send(startScript))
  for (const [name, type] of Object.entries(assets)) {
    let content: Buffer | undefined
    app.get(`/docs/${name}`, async (_request, reply) => {
      content ??= await readFile(resolveDependency(`swagger-ui-dist/${name}`))
      return reply.header('Cache-Control', 'max-age=86400').type(type).send(content)
    })
  }
}
