import { useQueryClient } from '@tanstack/react-query'
import type { Answer } from '../../api/call.ts'
import { keyOf } from '../../api/queries.ts'
import { showFailure } from '../../parts/toasts/toasts.ts'
import { setFavorite, trendsQuery, type Trend } from './queries.ts'

const onePipeline = 'GET /v2/organizations/{org}/pipelines/{pipeline}'

type Pipeline = Answer<typeof onePipeline>

/** Shown at once, and taken back with the server's words if it is refused. */
export function useFavorite(org: string) {
  const queryClient = useQueryClient()
  const { queryKey } = trendsQuery(org)
  const show = (id: string, favorite: boolean) => {
    queryClient.setQueryData(queryKey, (before: Trend[] | undefined) =>
      before?.map((each) =>
        each.pipeline_id === id && each.pipeline !== undefined
          ? { ...each, pipeline: { ...each.pipeline, favorite } }
          : each,
      ),
    )
    queryClient.setQueriesData({ queryKey: keyOf(onePipeline) }, (before: Pipeline | undefined) =>
      before?.id === id && before.viewer !== undefined
        ? { ...before, viewer: { ...before.viewer, favorite } }
        : before,
    )
  }
  return async ({ id }: Pick<Pipeline, 'id'>, isFavorite: boolean) => {
    show(id, isFavorite)
    try {
      await setFavorite(id, isFavorite)
    } catch (error) {
      show(id, !isFavorite)
      showFailure(error)
    }
  }
}
