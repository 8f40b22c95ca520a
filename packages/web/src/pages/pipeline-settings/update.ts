import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call, type Answer } from '../../api/call.ts'
import { keyOf } from '../../api/queries.ts'
import type { Operations } from '../../api/operations.ts'
import { showToast } from '../../parts/toasts/toasts.ts'

const get = 'GET /v2/organizations/{org}/pipelines/{pipeline}'
const patch = 'PATCH /v2/organizations/{org}/pipelines/{pipeline}'

export type Pipeline = Answer<typeof get>
type PipelineChange = NonNullable<Operations[typeof patch]['body']>

export function useUpdatePipeline(org: string, { slug }: Pipeline) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (body: PipelineChange) => call(patch, { params: { org, pipeline: slug }, body }),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: keyOf(get) })
      showToast('Saved.')
    },
  })
}
