// Absolute links to this server, in the exact form that public clients parse: query keys sorted, `per_page` after
// `page`, and no `,`, `;` or `>` in the URL, because some clients split the header at these characters.
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

const path = (url: RequestUrl) => new URL(url.path, 'http://x').pathname.replace(/[,;]/g, encodeURIComponent)
