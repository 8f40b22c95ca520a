// The page for browsers at an address without a page, where the web interface was not built.
import { html } from './html.ts'
import type { PageAnswer } from './page.ts'

export const missingPage = (path: string): PageAnswer => ({
  status: 404,
  title: 'No page here',
  content: html`<p>There is nothing at ${path.slice(0, 200)}</p>
    <p>
      The web interface is not built: it needs Node 20.19, 22.12 or later, and is built by npm start. The
      <a href="/docs">API</a> is there.
    </p>`,
})
