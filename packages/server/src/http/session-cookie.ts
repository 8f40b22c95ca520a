// A browser adds the cookie to requests that other sites cause, so the cookie alone is no proof that a page of ours asks.
import type { FastifyRequest } from 'fastify'
import { readCookie } from './cookies.ts'

/**
 * The session cookie, if a page of ours sent the request. The proof is a header that pages of other origins may not send:
 * it is in no Access-Control-Allow-Headers. Downloads go without it. Browsers leave out Sec-Fetch-Site on plain http.
 */
export function sessionCookie(
  baseUrl: string,
  request: Pick<FastifyRequest, 'method' | 'headers'>,
  isDownload: boolean,
): string | null {
  const { headers, method } = request
  const isLink = isDownload && (method === 'GET' || method === 'HEAD')
  if (!isLink && headers['x-millrace-page'] !== '1') return null
  return isFromElsewhere(baseUrl, request) ? null : readCookie(baseUrl, 'session', headers.cookie)
}

/** Whether the browser says that a page of another origin sent the request. */
export function isFromElsewhere(baseUrl: string, { headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  return (
    (origin !== undefined && origin !== new URL(baseUrl).origin) ||
    (site !== undefined && site !== 'same-origin')
  )
}
