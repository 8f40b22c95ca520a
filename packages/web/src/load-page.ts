// The code of a page that has not been open yet.
import { onReachable } from './api/call.ts'
import { isAway, tryNow } from './shell/connection.ts'

/**
 * While the server is away, it waits for it, so the page comes when the server comes. Otherwise a newer version has other files, and
 * the router loads all anew.
 */
export async function loadPage<Page>(load: () => Promise<Page>): Promise<Page> {
  try {
    return await load()
  } catch (error) {
    await tryNow()
    if (!isAway()) throw error
    await serverIsBack()
    return load()
  }
}

const serverIsBack = () =>
  new Promise<void>((resolve) => {
    const end = onReachable((isReachable) => {
      if (!isReachable) return
      end()
      resolve()
    })
  })
