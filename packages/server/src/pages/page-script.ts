// The script of the pages that the server renders. It keeps the page secret of the session in the storage of this origin, where
// packages/web/src/api/session.ts finds it, and proves the session with it: forms get it as a field, and a page that the browser
// asked for by itself is asked for again with a ticket. It asks once, so a ticket that is refused ends in a link.
import { createHash } from 'node:crypto'

const script = `
(() => {
  const key = 'millrace.page-secret'
  const proofMs = 30_000
  const { does, secret, to, path } = document.documentElement.dataset
  const show = (id) => { document.getElementById(id).hidden = false }
  const read = () => { try { return localStorage.getItem(key) } catch { return null } }
  const withTicket = (ticket) => path + (path.includes('?') ? '&' : '?') + 'page_ticket=' + ticket + location.hash

  addEventListener('submit', ({ target }) => {
    for (const field of target.querySelectorAll('input[name=page_secret]')) field.value = read() ?? ''
  }, true)

  const keep = () => {
    try {
      if (secret === '') localStorage.removeItem(key)
      else localStorage.setItem(key, secret)
    } catch {
      return show('refused')
    }
    location.replace(to)
  }

  const prove = async () => {
    const known = read()
    if (known === null) return location.replace(withTicket('none'))
    const answer = await fetch('/-/page-tickets', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Millrace-Page': known },
      body: JSON.stringify({ path }),
      signal: AbortSignal.timeout(proofMs),
    }).catch(() => null)
    if (answer?.status === 201) return location.replace(withTicket((await answer.json()).ticket))
    if (answer?.status !== 401) return show('again')
    if (read() === known) localStorage.removeItem(key)
    location.replace(withTicket('none'))
  }

  if (does === 'keep') keep()
  else if (does === 'prove') location.search.includes('page_ticket=') ? show('again') : prove()
  else {
    const url = new URL(location.href)
    if (!url.searchParams.has('page_ticket')) return
    url.searchParams.delete('page_ticket')
    history.replaceState(null, '', url)
  }
})()
`

export const pageScript = script
export const pageScriptHash = createHash('sha256').update(script).digest('base64')
