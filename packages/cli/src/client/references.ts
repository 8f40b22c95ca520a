// How a build or a job is named on the command line: 12, #12, web/12, or the address of its page.
import { Refused } from '../refused.ts'

export interface Reference {
  /** null: not named. */
  org: string | null
  pipeline: string | null
  /** The number; null: not named. */
  build: string | null
  job: string | null
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const isUuid = (text: string) => UUID.test(text)

/** null: the text is no such name. `url` is the server's. */
export function readReference(text: string, url: string): Reference | null {
  if (/^https?:\/\//i.test(text)) return readAddress(text, url)
  const [, pipeline, build] = /^(?:([^/#\s]+)[/#]|#)?(\d+)$/.exec(text) ?? []
  if (build === undefined) return null
  return { org: null, pipeline: pipeline ?? null, build, job: null }
}

function readAddress(text: string, server: string): Reference {
  const url = URL.canParse(text) ? new URL(text) : null
  const root = new URL(server)
  const base = root.pathname.replace(/\/$/, '')
  const path = url?.pathname.startsWith(`${base}/`) ? url.pathname.slice(base.length) : ''
  const [, org, pipeline, build] = /^\/([^/]+)\/([^/]+)\/builds\/([^/]+)/.exec(path) ?? []
  if (url === null || org === undefined || pipeline === undefined || build === undefined) {
    throw new Refused(`${text} is not the address of a build.`)
  }
  if (url.host !== root.host) {
    throw new Refused(`${text} is a build of another server than ${server}: choose it with --profile.`)
  }
  const job = url.hash.slice(1)
  return {
    org: decodeURIComponent(org),
    pipeline: decodeURIComponent(pipeline),
    build: decodeURIComponent(build),
    job: isUuid(job) ? job : null,
  }
}
