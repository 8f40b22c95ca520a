// Links to what the API answers: artifacts and the text of logs. A browser that follows a link adds no header, so the address gets
// a ticket, which is valid for a minute.
import { failureOf, request } from './call.ts'
import { pageHeaders } from './session.ts'

/** Downloads the answer of the operation at that path. */
export const download = (path: string, name: string): Promise<void> =>
  follow(path, (link) => {
    link.download = name
  })

/** Follows every link of the page to the API, also those in logs and annotations. */
export function followDownloads(onFailure: (error: unknown) => void): () => void {
  const listen = (event: MouseEvent) => {
    const clicked = event.target instanceof Element ? event.target.closest('a') : null
    if (event.defaultPrevented || clicked === null || event.button > 1) return
    if (clicked.origin !== location.origin || !clicked.pathname.startsWith('/v2/')) return
    event.preventDefault()
    const isNewTab = event.button === 1 || event.ctrlKey || event.metaKey || event.shiftKey
    follow(clicked.pathname + clicked.search, (link) => {
      link.target = isNewTab ? '_blank' : clicked.target
      link.rel = 'noopener'
      if (clicked.hasAttribute('download')) link.download = clicked.download
    }).catch(onFailure)
  }
  document.addEventListener('click', listen)
  document.addEventListener('auxclick', listen)
  return () => {
    document.removeEventListener('click', listen)
    document.removeEventListener('auxclick', listen)
  }
}

async function follow(path: string, prepare: (link: HTMLAnchorElement) => void): Promise<void> {
  const link = document.createElement('a')
  const ticket = await askTicket(path)
  link.href = `${path}${path.includes('?') ? '&' : '?'}page_ticket=${ticket}`
  prepare(link)
  link.click()
}

async function askTicket(path: string): Promise<string> {
  const received = await request('/-/page-tickets', {
    method: 'POST',
    headers: { ...pageHeaders(), 'Content-Type': 'application/json' },
    body: JSON.stringify({ path }),
  })
  if (!received.ok) throw failureOf(received, 'POST')
  return (JSON.parse(received.text) as { ticket: string }).ticket
}
