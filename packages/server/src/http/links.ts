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
  const query = { ...url.query, ...change }
  const pairs = Object.keys(query)
    .sort()
    .flatMap((key) => [query[key] ?? []].flat().map((value) => `${encode(key)}=${encode(String(value))}`))
  return `${url.base}${path(url)}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`
}

export function linkHeader(links: Record<string, string>): Record<string, string> {
  const entries = Object.entries(links).map(([rel, url]) => `<${url}>; rel="${rel}"`)
  return entries.length > 0 ? { Link: entries.join(', ') } : {}
}

const encode = (text: string) => encodeURIComponent(text.toWellFormed())

/** Nearly every path is plain, and is spared the work. */
const path = (url: RequestUrl) =>
  /^(\/[\w~-][\w.~-]*)+$/.test(url.path)
    ? url.path
    : new URL(url.path, 'http://x').pathname.replace(/[,;]/g, encodeURIComponent)
