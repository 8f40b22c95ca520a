// The proof that this page asks. The browser sends the session's cookie to every port of the host, so the cookie counts only with
// the page secret, which the sign-in page keeps in the storage of this origin (packages/server/src/pages/page-script.ts).
const key = 'millrace.page-secret'

/** Read for every request: another tab may have signed in since. */
export const pageHeaders = (): Record<string, string> => ({ 'X-Millrace-Page': read() })

/** After a sign-out. */
export function forgetSession(): void {
  try {
    localStorage.removeItem(key)
  } catch {
    // Nothing was kept.
  }
}

/** Called when another tab has signed in. Returns the function that ends it. */
export function onSignIn(listener: () => void): () => void {
  const listen = (event: StorageEvent) => {
    if (event.key === key && event.newValue !== null) listener()
  }
  window.addEventListener('storage', listen)
  return () => window.removeEventListener('storage', listen)
}

function read(): string {
  try {
    return localStorage.getItem(key) ?? ''
  } catch {
    return ''
  }
}
