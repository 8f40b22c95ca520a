// The comments on pull requests of Gitea, GitLab and Bitbucket, over real HTTP and as they document them. Each refuses what it
// does not know: paths, methods, tokens, and texts that are too long.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type CommentHostType = 'gitea' | 'forgejo' | 'gitlab' | 'bitbucket'

interface Spoken {
  authorization: [header: string, value: string]
  list: RegExp
  one: RegExp
  update: string
  textOf(body: Record<string, unknown>): unknown
  show(comment: TestComment): object
  showAll(all: TestComment[]): unknown
}

interface TestComment {
  id: number
  text: string
  isDeleted: boolean
}

export const commentToken = 'a-token-for-comments-1234'

const plain = {
  textOf: (body: Record<string, unknown>) => body['body'],
  show: ({ id, text }: TestComment) => ({ id, body: text, created_at: '2026-01-01T00:00:00Z' }),
}

const giteaSpoken: Spoken = {
  ...plain,
  authorization: ['authorization', `token ${commentToken}`],
  list: /^\/repos\/acme\/app\/issues\/7\/comments(?:\?since=[^&]+)?$/,
  one: /^\/repos\/acme\/app\/issues\/comments\/(\d+)$/,
  update: 'PATCH',
  showAll: (all) => all.filter(({ isDeleted }) => !isDeleted).map(plain.show),
}

const spoken: Readonly<Record<CommentHostType, Spoken>> = {
  gitea: giteaSpoken,
  forgejo: giteaSpoken,
  gitlab: {
    ...plain,
    authorization: ['private-token', commentToken],
    list: /^\/projects\/acme%2Fapp\/merge_requests\/7\/notes(?:\?order_by=created_at&sort=desc&per_page=20&page=(\d+))?$/,
    one: /^\/projects\/acme%2Fapp\/merge_requests\/7\/notes\/(\d+)$/,
    update: 'PUT',
    showAll: (all) => all.filter(({ isDeleted }) => !isDeleted).map(plain.show),
  },
  bitbucket: {
    authorization: ['authorization', `Bearer ${commentToken}`],
    list: /^\/repositories\/acme\/app\/pullrequests\/7\/comments(?:\?sort=-created_on&pagelen=20&page=(\d+))?$/,
    one: /^\/repositories\/acme\/app\/pullrequests\/7\/comments\/(\d+)$/,
    update: 'PUT',
    textOf: (body) => (body['content'] as { raw?: unknown } | undefined)?.raw,
    show: ({ id, text, isDeleted }) => ({ id, deleted: isDeleted, content: { raw: text, html: '' } }),
    showAll: (all) => ({
      values: all.map((one) => spoken.bitbucket.show(one)),
      pagelen: 20,
    }),
  },
}

const mostCharacters = 32_768
const onePage = 20

export class CommentHost {
  url = ''
  type: CommentHostType = 'gitea'
  comments: TestComment[] = []
  /** Methods of requests for comments, in order. */
  asked: string[] = []
  /** So many answers to the method are lost after the host has done its work. */
  lost: Record<string, number> = {}
  /** Replaces the status of all answers, and nothing is done. */
  refusing: number | null = null
  close: () => Promise<void> = async () => {}
  #lastId = 100

  shown = (): string[] => this.comments.filter(({ isDeleted }) => !isDeleted).map(({ text }) => text)

  add(text: string): TestComment {
    const comment = { id: (this.#lastId += 1), text, isDeleted: false }
    this.comments.push(comment)
    return comment
  }

  answer(method: string, path: string, body: Record<string, unknown>): [status: number, body: unknown] {
    const { list, one, update, textOf, show, showAll } = spoken[this.type]
    const text = textOf(body)
    const isText = typeof text === 'string' && text.trim() !== '' && text.length <= mostCharacters
    const [listed, id] = [list.exec(path), one.exec(path)?.[1]]
    if (listed !== null && method === 'GET') {
      const page = Number(listed[1] ?? 1)
      const all =
        this.type === 'gitlab' || this.type === 'bitbucket' ? this.comments.toReversed() : this.comments
      const shown = listed[1] === undefined ? all : all.slice((page - 1) * onePage, page * onePage)
      return [200, showAll(shown)]
    }
    if (listed !== null && method === 'POST') {
      return isText ? [201, show(this.add(text))] : [422, { message: 'bad text' }]
    }
    const found = this.comments.find((comment) => String(comment.id) === id && !comment.isDeleted)
    if (id === undefined || method !== update || found === undefined) return [404, { message: 'Not Found' }]
    if (!isText) return [422, { message: 'bad text' }]
    found.text = text
    return [200, show(found)]
  }

  isAllowed(headers: NodeJS.Dict<string | string[]>): boolean {
    const [name, value] = spoken[this.type].authorization
    return headers[name] === value
  }
}

export async function aCommentHost(): Promise<CommentHost> {
  const host = new CommentHost()
  const server = createServer((request, response) => {
    buffer(request).then(
      (raw) => {
        const { method = '', url = '' } = request
        const body = raw.length === 0 ? {} : (JSON.parse(raw.toString()) as Record<string, unknown>)
        if (/\/statuses\//.test(url)) return response.writeHead(201).end('{}')
        host.asked.push(method)
        const [status, answer] =
          host.refusing !== null
            ? [host.refusing, { message: 'refused' }]
            : host.isAllowed(request.headers)
              ? host.answer(method, url, body)
              : [401, { message: 'token' }]
        const lost = host.lost[method] ?? 0
        host.lost[method] = Math.max(lost - 1, 0)
        if (lost > 0) return response.destroy()
        return response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer))
      },
      () => response.destroy(),
    )
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  host.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  host.close = () =>
    new Promise((closed) => {
      server.closeAllConnections()
      server.close(() => closed())
    })
  return host
}
