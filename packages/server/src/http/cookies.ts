// The cookies of our pages. No script can read them, and forms of other sites do not send them. Their values need no encoding,
// and only one is read of a request, so there is nothing that the package `cookie` would do for us.

export type CookieName = 'session' | 'form' | 'sso' | 'known'

/** Browsers accept the prefix only over https and for this host alone. */
const nameOf = (baseUrl: string, name: CookieName) =>
  baseUrl.startsWith('https:') ? `__Host-millrace_${name}` : `millrace_${name}`

export function readCookie(baseUrl: string, name: CookieName, header: string | undefined): string | null {
  const wanted = nameOf(baseUrl, name)
  for (const pair of (header ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2)
    if (key === wanted && value !== undefined && /^\w{20,100}$/.test(value)) return value
  }
  return null
}

/** An empty value deletes the cookie. */
export const writeCookie = (baseUrl: string, name: CookieName, value: string, seconds: number): string =>
  [
    `${nameOf(baseUrl, name)}=${value}`,
    'Path=/',
    `Max-Age=${value === '' ? 0 : seconds}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(baseUrl.startsWith('https:') ? ['Secure'] : []),
  ].join('; ')
