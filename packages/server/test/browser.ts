// A minimal browser: it stores cookies, does what the script of our pages does (src/pages/page-script.ts), and submits the forms of
// the last page. It does not follow redirects. Tests in e2e/web/ use a real one.
import type { TestApp } from './app.ts'
import type { SessionHeaders } from './sessions.ts'

export interface Shown {
  status: number
  text: string
  headers: Headers
  /** Where a redirect, or the script of the page, leads. */
  location: string | null
}

export interface Browser {
  cookies: Map<string, string>
  /** What the pages of our origin have stored. */
  storage: { pageSecret: string | null }
  /** What a page of ours sends with its requests. */
  headers(): SessionHeaders
  /** A session that was opened elsewhere. */
  use(session: SessionHeaders): void
  get(path: string): Promise<Shown>
  /** Fills in the form of the page last shown that leads there. */
  submit(action: string, fields?: Record<string, string>, headers?: Record<string, string>): Promise<Shown>
  /** Whatever somebody makes up. The script adds the page secret to forms of ours. */
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Shown>
  signIn(token: string, next?: string): Promise<Shown>
  signInWithPassword(email: string, password: string, next?: string): Promise<Shown>
}

/** An attribute of the page for its script. */
const dataOf = (page: string, name: string): string =>
  unescape(new RegExp(`<html[^>]* data-${name}="([^"]*)"`).exec(page)?.[1] ?? '')

const unescape = (text: string) =>
  text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))

export function aBrowser(app: TestApp): Browser {
  const cookies = new Map<string, string>()
  const storage: Browser['storage'] = { pageSecret: null }
  let page = ''
  const ask = async (path: string, init: RequestInit = {}): Promise<Shown> => {
    const response = await fetch(app.address + path, {
      ...init,
      redirect: 'manual',
      headers: {
        ...(init.headers as Record<string, string>),
        Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
    })
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';')[0]?.split('=') ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    page = await response.text()
    const shown = {
      status: response.status,
      text: page,
      headers: response.headers,
      location: response.headers.get('location'),
    }
    if (dataOf(page, 'does') === 'prove') {
      const own = dataOf(page, 'path')
      return ask(`${own}${own.includes('?') ? '&' : '?'}page_ticket=${await ticketFor(own)}`)
    }
    if (dataOf(page, 'does') !== 'keep') return shown
    storage.pageSecret = dataOf(page, 'secret') || null
    return { ...shown, location: dataOf(page, 'to') }
  }
  const headers = () => ({
    Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    'X-Millrace-Page': storage.pageSecret ?? '',
  })
  const ticketFor = async (path: string): Promise<string> => {
    if (storage.pageSecret === null) return 'none'
    const asked = await app.request('POST', '/-/page-tickets', { headers: headers(), body: { path } })
    if (asked.status === 201) return String(asked.body['ticket'])
    if (asked.status !== 401) throw new Error(asked.text)
    storage.pageSecret = null
    return 'none'
  }
  const browser: Browser = {
    cookies,
    storage,
    headers,
    use(session) {
      cookies.set('millrace_session', session.Cookie.split('=')[1] ?? '')
      storage.pageSecret = session['X-Millrace-Page']
    },
    get: (path) => ask(path),
    post: (path, fields, headers = {}) => {
      const secret = 'form_code' in fields ? { page_secret: storage.pageSecret ?? '' } : {}
      const body = new URLSearchParams({ ...fields, ...secret })
      return ask(path, { method: 'POST', body, headers })
    },
    submit: (action, fields = {}, headers = {}) => {
      const form = page.split('<form ').find((part) => part.includes(`action="${action}"`))
      if (form === undefined) throw new Error(`The page has no form for ${action}: ${page}`)
      const hidden = [...form.matchAll(/type="hidden"\s+name="(\w+)"\s+value="([^"]*)"/g)]
      const given = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, unescape(value)]))
      return browser.post(
        action,
        { ...given, ...fields },
        { Origin: app.ctx.config.url, 'Sec-Fetch-Site': 'same-origin', ...headers },
      )
    },
    async signIn(token, next) {
      await browser.get(next === undefined ? '/sign-in' : `/sign-in?next=${encodeURIComponent(next)}`)
      return browser.submit('/sign-in', { token })
    },
    async signInWithPassword(email, password, next) {
      await browser.get(next === undefined ? '/sign-in' : `/sign-in?next=${encodeURIComponent(next)}`)
      return browser.submit('/sign-in', { email, password })
    },
  }
  return browser
}
