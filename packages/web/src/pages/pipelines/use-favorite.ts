import { useQueryClient } from '@tanstack/react-query'
import { keyOf } from '../../api/queries.ts'
import { showFailure } from '../../parts/toasts/toasts.ts'
import { pipelinesQuery, setFavorite, type Pipeline } from './queries.ts'

const onePipeline = 'GET /v2/organizations/{org}/pipelines/{pipeline}'

/** Shown at once, and taken back with the server's words if it is refused. */
export function useFavorite(org: string) {
  const queryClient = useQueryClient()
  const { queryKey } = pipelinesQuery(org)
  const mark = <Marked extends Pick<Pipeline, 'viewer'>>(each: Marked, favorite: boolean): Marked =>
    each.viewer === undefined ? each : { ...each, viewer: { ...each.viewer, favorite } }
  const show = (id: string, favorite: boolean) => {
    queryClient.setQueryData(queryKey, (before: Pipeline[] | undefined) =>
      before?.map((each) => (each.id === id ? mark(each, favorite) : each)),
    )
    queryClient.setQueriesData({ queryKey: keyOf(onePipeline) }, (before: Pipeline | undefined) =>
      before?.id === id ? mark(before, favorite) : before,
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
