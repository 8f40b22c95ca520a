import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { archivedCountQuery } from './queries.ts'

/** Below the builds of a pipeline: how many older ones are archived. */
export function ArchivedLink({ org, pipeline }: { org: string; pipeline: string }) {
  const { data } = useQuery({ ...archivedCountQuery(org, pipeline), staleTime: 60_000 })
  const [archived] = data ?? []
  if (archived === undefined) return null
  const { builds_count: count } = archived
  return (
    <p>
      <Link to="/$org/$pipeline/archived_builds" params={{ org, pipeline }}>
        {count === 1 ? '1 older build is archived' : `${count.toLocaleString()} older builds are archived`}
      </Link>
    </p>
  )
}
