import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Page } from '../../parts/Page.tsx'
import { Empty, Loading, Problem } from '../../parts/States.tsx'
import { pipelinesQuery } from './queries.ts'

export function PipelinesPage() {
  const { org } = useParams({ from: '/$org' })
  const { data, error, refetch } = useInfiniteQuery(pipelinesQuery(org))
  const pipelines = data?.pages.flatMap(({ rows }) => rows)
  return (
    <Page title="Pipelines">
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {error === null && pipelines === undefined && <Loading />}
      {pipelines?.length === 0 && <Empty title="No pipelines yet" />}
      <ul>
        {pipelines?.map(({ id, slug, name }) => (
          <li key={id}>
            <Link to="/$org/$pipeline" params={{ org, pipeline: slug }}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </Page>
  )
}
