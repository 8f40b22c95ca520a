// A minimal browser: it stores cookies and submits the forms of the last page. It does not follow redirects.
import type { TestApp } from './app.ts'

export interface Shown {
  status: number
  text: string
  headers: Headers
  location: string | null
}

export interface Browser {
  cookies: Map<string, string>
  get(path: string): Promise<Shown>
  /** Fills in the form of the page last shown that leads there. */
  submit(action: string, fields?: Record<string, string>, headers?: Record<string, string>): Promise<Shown>
  /** Whatever somebody makes up. */
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Shown>
  signIn(token: string, next?: string): Promise<Shown>
  signInWithPassword(email: string, password: string, next?: string): Promise<Shown>
}

const unescape = (text: string) =>
  text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))

export function aBrowser(app: TestApp): Browser {
  const cookies = new Map<string, string>()
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
    return {
      status: response.status,
      text: page,
      headers: response.headers,
      location: response.headers.get('location'),
    }
  }
  const browser: Browser = {
    cookies,
    get: (path) => ask(path),
    post: (path, fields, headers = {}) =>
      ask(path, { method: 'POST', body: new URLSearchParams(fields), headers }),
    submit: (action, fields = {}, headers = {}) => {
      const form = page.split('<form ').find((part) => part.includes(`action="${action}"`))
      if (form === undefined) throw new Error(`The page has no form for ${action}: ${page}`)
      const hidden = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)]
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
