import { addressOf } from '../../api/call.ts'
import { paramsOf, type BuildPlace } from './queries.ts'

/** The command that shows what the page shows. */
export function curlOf(place: BuildPlace, job?: string): string {
  const build = '/v2/organizations/{org}/pipelines/{pipeline}/builds/{build}'
  const path = addressOf(job === undefined ? build : `${build}/jobs/{job}`, { ...paramsOf(place), job })
  return `curl -H "Authorization: Bearer $TOKEN" '${location.origin}${path}'`
}
