import type { Static } from 'typebox'
import type { Keyring } from '../../../auth/keyring.ts'
import { presentUserOrNull } from '../../people/user/present.ts'
import { pipelineUrl } from '../pipelines/present.ts'
import type { TriggerRow } from './queries.ts'
import type { Trigger } from './schema.ts'

/** `keys`: null for those who may not send to it. */
export function presentTrigger(
  url: string,
  orgSlug: string,
  trigger: TriggerRow,
  keys: Keyring | null,
): Static<typeof Trigger> {
  const pipeline = pipelineUrl(url, orgSlug, trigger.pipeline_slug)
  return {
    id: trigger.id,
    url: `${pipeline}/triggers/${trigger.id}`,
    name: trigger.name,
    enabled: trigger.enabled,
    address:
      keys === null
        ? ''
        : `${url}/deliver/trigger/${keys.open(trigger.address_sealed, trigger.address_key_id)}`,
    branch: trigger.branch,
    commit: trigger.commit,
    message: trigger.message,
    env: { ...trigger.env },
    condition: trigger.condition,
    signature: trigger.signature,
    signature_header: trigger.signature_header,
    created_at: trigger.created_at,
    created_by: presentUserOrNull(url, trigger.created_by),
    pipeline: { id: trigger.pipeline_id, slug: trigger.pipeline_slug, url: pipeline },
  }
}
