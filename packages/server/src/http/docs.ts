// The API's own description, and a page that renders it without asking any other host for anything.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { FastifyInstance } from 'fastify'
import { openApiDocument } from './openapi.ts'
import type { Slices } from './route.ts'

const require = createRequire(import.meta.url)

// The only files ever served from disk, by name: nothing in a URL becomes a path.
const assets = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
} as const

/**
 * What the description refers to is among its schemas, and none of them is in itself. The library would read all of it anew, as any description, when
 * the page is opened and with each operation: a second of a page that does not answer.
 */
const startScript = `const follow = (part, schemas) => {
  if (Array.isArray(part)) return part.map((item) => follow(item, schemas))
  if (typeof part !== 'object' || part === null) return part
  const { $ref, ...rest } = part
  const own = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, follow(value, schemas)]))
  if ($ref === undefined) return own
  return { ...follow(schemas[$ref.replace('#/components/schemas/', '')], schemas), ...own, $$ref: $ref }
}

const resolveSubtree = async (document, path) => {
  const part = path.reduce((whole, key) => whole?.[key], document)
  return { spec: follow(part, document.components.schemas), errors: [] }
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
<link rel="icon" href="data:,">
</head>
<body>
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

const policy =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"

export async function serveDocs(app: FastifyInstance, baseUrl: string, slices: Slices): Promise<void> {
  // Made when it is first asked for, which spares a start about 50 ms.
  let document: string | undefined
  app.get('/v2/openapi.json', async (_request, reply) => {
    document ??= JSON.stringify(openApiDocument(baseUrl, slices))
    return reply.type('application/json').send(document)
  })
  app.get('/docs', async (_request, reply) => {
    return reply.header('Content-Security-Policy', policy).type('text/html; charset=utf-8').send(page)
  })
  app.get('/docs/start.js', async (_request, reply) => reply.type('text/javascript').send(startScript))
  for (const [name, type] of Object.entries(assets)) {
    let content: Buffer | undefined
    app.get(`/docs/${name}`, async (_request, reply) => {
      content ??= await readFile(require.resolve(`swagger-ui-dist/${name}`))
      return reply.header('Cache-Control', 'max-age=86400').type(type).send(content)
    })
  }
}
