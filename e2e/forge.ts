// A small host of ours that speaks the API of Gitea and has the repository acme/app.
import { createHmac, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export const forgeSecret = 'a secret of the host'
const commit = '1'.repeat(40)

interface Hook {
  id: number
  active: boolean
  events: string[]
  config: { url: string; secret?: string }
}

export async function aForge() {
  const hooks: Hook[] = []
  const forge = { url: '', hooks, mayHook: true, mayListPulls: true, sendsTests: true, deliver }
  const server = createServer((request, response) => {
    const answer = (status: number, body: object | null) =>
      response
        .writeHead(status, { 'Content-Type': 'application/json' })
        .end(body === null ? '' : JSON.stringify(body))
    const path = new URL(request.url ?? '', forge.url).pathname
    const address = `${forge.url}/acme/app`
    const app = {
      full_name: 'acme/app',
      html_url: address,
      clone_url: `${address}.git`,
      default_branch: 'trunk',
    }
    if (path === '/api/v1/repos/search') {
      answer(200, { ok: true, data: [app] })
    } else if (path === '/api/v1/repos/acme/app') {
      answer(200, app)
    } else if (path === '/api/v1/repos/acme/app/hooks' && !forge.mayHook) {
      answer(403, { message: 'token does not have at least one of required scope(s)' })
    } else if (path === '/api/v1/repos/acme/app/hooks' && request.method === 'GET') {
      answer(200, hooks)
    } else if (path === '/api/v1/repos/acme/app/hooks') {
      void json(request).then((body) => {
        const hook = { ...(body as Hook), id: hooks.length + 1 }
        hooks.push(hook)
        answer(201, hook)
      })
    } else if (/\/hooks\/\d+$/.test(path) && request.method === 'PATCH') {
      void json(request).then((body) => {
        const hook = hooks.find(({ id }) => path.endsWith(`/${id}`))
        answer(200, Object.assign(hook ?? {}, body))
      })
    } else if (path === '/api/v1/repos/acme/app/pulls') {
      if (forge.mayListPulls) answer(200, [])
      else answer(403, { message: 'the token is too weak' })
    } else if (path === '/acme/app.git/info/refs') {
      // What git reads where a folder of files is the server.
      response.writeHead(200, { 'Content-Type': 'text/plain' }).end(`${commit}\trefs/heads/trunk\n`)
    } else if (path.endsWith('/tests')) {
      answer(204, null)
      if (forge.sendsTests) for (const { config } of hooks) void deliver(config.url, config.secret)
    } else {
      answer(404, {})
    }
  })
  async function deliver(url: string, secret = forgeSecret): Promise<number> {
    const repository = { full_name: 'acme/app', clone_url: `${forge.url}/acme/app.git` }
    const body = JSON.stringify({ ref: 'refs/heads/trunk', before: commit, after: commit, repository })
    const headers = {
      'Content-Type': 'application/json',
      'X-Gitea-Event': 'push',
      'X-Gitea-Delivery': randomUUID(),
      'X-Gitea-Signature': createHmac('sha256', secret).update(body).digest('hex'),
    }
    return (await fetch(url, { method: 'POST', headers, body })).status
  }
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  forge.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return forge
}
