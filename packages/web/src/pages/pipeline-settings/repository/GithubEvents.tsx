import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../../api/call.ts'
import { query } from '../../../api/queries.ts'
import { Button } from '../../../parts/Button.tsx'
import { Notice } from '../../../parts/settings/Notice.tsx'
import { showFailure } from '../../../parts/toasts/toasts.ts'
import type { PipelineAddress } from '../queries.ts'

const events = '/v2/organizations/{org}/pipelines/{pipeline}/github-webhooks'

/** Events of GitHub can be kept from making builds for a while. */
export function GithubEvents({ address }: { address: PipelineAddress }) {
  const queryClient = useQueryClient()
  const stored = query(`GET ${events}`, { params: address })
  const { data } = useQuery(stored)
  if (data === undefined) return null
  const set = async (isOn: boolean) => {
    try {
      await call(isOn ? `PUT ${events}` : `DELETE ${events}`, { params: address })
    } catch (error) {
      showFailure(error)
    }
    await queryClient.invalidateQueries({ queryKey: stored.queryKey })
  }
  return (
    <Notice
      action={
        <Button isWrite onClick={() => void set(!data.enabled)}>
          {data.enabled ? 'Turn events off' : 'Turn events on'}
        </Button>
      }
    >
      {data.enabled
        ? 'Events of GitHub make builds.'
        : `Events of GitHub make no builds${data.disabled_by === null ? '' : `: ${data.disabled_by} has turned them off`}.`}
    </Notice>
  )
}
