/** The sign-in page, which leads back to the present address with its fragment. */
export function signInAddress({ pathname, search, hash } = window.location): string {
  const here = pathname + search + hash
  return here === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(here)}`
}
