const hiddenMs = 30_000

/**
 * Opens a connection while the page is visible. A page that has been hidden for a while closes it, since browsers allow few.
 * `open` returns the function that closes it. Returns the function that ends it all.
 */
export function whileVisible(open: () => () => void): () => void {
  let close: (() => void) | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  const shut = () => {
    clearTimeout(timer)
    close?.()
    close = null
  }
  const update = () => {
    clearTimeout(timer)
    if (document.hidden) timer = setTimeout(shut, hiddenMs)
    else close ??= open()
  }
  document.addEventListener('visibilitychange', update)
  update()
  return () => {
    document.removeEventListener('visibilitychange', update)
    shut()
  }
}
