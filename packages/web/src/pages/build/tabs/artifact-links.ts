// `artifact://path` in an annotation names an artifact of the build.
import { queryOptions } from '@tanstack/react-query'
import type { BuildAddress } from '../../../api/addresses.ts'
import { callPage } from '../../../api/call.ts'
import { keyOf } from '../../../api/queries.ts'

/** Addresses of downloads by the path of the artifact. */
export type ArtifactLinks = ReadonlyMap<string, string>

const operation = 'GET /v2/organizations/{org}/pipelines/{pipeline}/builds/{build}/artifacts'
const scheme = /^artifact:\/\//i
/** Artifacts beyond these pages of 100 are no targets of links. */
const mostPages = 10

export const noLinks: ArtifactLinks = new Map()

export const namesArtifacts = (html: string): boolean => /artifact:\/\//i.test(html)

/** null: the address names no artifact; undefined: the build has none of that path. */
export function resolveArtifact(address: string | null, links: ArtifactLinks): string | null | undefined {
  if (address === null || !scheme.test(address)) return null
  const path = address.replace(scheme, '')
  return links.get(path) ?? links.get(decode(path))
}

/** Markdown encodes blanks and other characters of a link. */
function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Of several artifacts of one path, the newest. */
export const artifactLinksQuery = (params: BuildAddress) => {
  return queryOptions({
    queryKey: [...keyOf(operation, { params }), 'links'],
    queryFn: async ({ signal }): Promise<ArtifactLinks> => {
      const links = new Map<string, string>()
      let next: Record<string, string> | null = {}
      for (let page = 0; page < mostPages && next !== null; page++) {
        const query: Record<string, string | number> = { per_page: 100, ...next }
        const answer = await callPage(operation, { params, query, signal })
        for (const { state, path, download_url: url } of answer.rows)
          if (state === 'finished') links.set(path, new URL(url).pathname)
        next = answer.next
      }
      return links
    },
  })
}
