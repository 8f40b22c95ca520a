// Absolute links back to us, in the exact bytes that public clients parse: query keys sorted, `per_page` behind
// `page`, nothing in the URL that a naive split on `,`, `;` or `>` would trip over.
import type { RawQuery } from './query.ts'

export interface RequestUrl {
  /** The installation's own address, without a trailing slash. */
  base: string
  path: string
  query: RawQuery
}

export function withQuery(url: RequestUrl, change: Record<string, string | number | undefined>): string {
  const query = new Map<string, string[]>()
  for (const [key, value] of Object.entries({ ...url.query, ...change })) {
    if (value !== undefined) query.set(key, [value].flat().map(String))
  }
  const pairs = [...query]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, values]) => values.map((value) => `${encode(key)}=${encode(value)}`))
  return `${url.base}${path(url)}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`
}

export function linkHeader(links: Record<string, string>): Record<string, string> {
  const entries = Object.entries(links).map(([rel, url]) => `<${url}>; rel="${rel}"`)
  return entries.length > 0 ? { Link: entries.join(', ') } : {}
}

const encode = (text: string) => encodeURIComponent(text.toWellFormed())

const path = (url: RequestUrl) => new URL(url.path, 'http://x').pathname.replace(/[,;]/g, encodeURIComponent)
