// Pictures that the API answers. A picture's address carries no proof that this page asks (session.ts), so the page asks itself and
// shows the answer as a `data:` address, which the policy of pages allows.
import { fetchFileWithin } from './fetch-within.ts'
import { pageHeaders } from './session.ts'

/** null: there is no picture, or it is too large. */
export async function fetchPicture(path: string, signal: AbortSignal): Promise<string | null> {
  const picture = await fetchFileWithin(path, { headers: pageHeaders(), signal })
  return picture === null || picture.size === 0 ? null : readDataUrl(picture)
}

function readDataUrl(picture: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(typeof reader.result === 'string' ? reader.result : ''))
    reader.addEventListener('error', () => reject(reader.error ?? new Error('The picture cannot be read.')))
    reader.readAsDataURL(picture)
  })
}
