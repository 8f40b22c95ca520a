import type { BuildAddress } from '../../api/addresses.ts'
import { addressOf } from '../../api/call.ts'

/** The command that shows what the page shows. */
export function curlOf(address: BuildAddress, job?: string): string {
  const build = '/v2/organizations/{org}/pipelines/{pipeline}/builds/{build}'
  const path = addressOf(job === undefined ? build : `${build}/jobs/{job}`, { ...address, job })
  return `curl -H "Authorization: Bearer $TOKEN" '${location.origin}${path}'`
}
