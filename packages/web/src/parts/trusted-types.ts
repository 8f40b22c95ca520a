// The one Trusted Types policy of the pages. The server's Content-Security-Policy allows no other, and no second one of
// this name, so whoever needs a trusted value gets it here.

interface Policy {
  createHTML: (html: string) => string
  createScriptURL: (url: string) => string
}

declare global {
  interface Window {
    trustedTypes?: { createPolicy: (name: string, rules: Policy) => Policy }
  }
}

const rules: Policy = {
  // Only parseInert asks for it, and nothing of its document runs.
  createHTML: (html) => html,
  createScriptURL(url) {
    if (new URL(url, location.href).origin !== location.origin)
      throw new Error(`Not a script of ours: ${url}`)
    return url
  },
}

const policy = window.trustedTypes?.createPolicy('millrace', rules) ?? rules

/** `url` comes from `import url from './some-worker.ts?worker&url'`. */
export const startWorker = (url: string): Worker =>
  new Worker(policy.createScriptURL(url), { type: 'module' })

/** A document of its own, in which no script runs and nothing is fetched. Whoever shows parts of it has to check them. */
export const parseInert = (html: string): Document =>
  new DOMParser().parseFromString(policy.createHTML(html), 'text/html')
