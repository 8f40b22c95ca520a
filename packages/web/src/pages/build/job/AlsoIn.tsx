import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { JobAddress } from '../../../api/addresses.ts'
import { failureSummaryQuery } from '../queries.ts'
import { longestPart } from '../tabs/group-failures.ts'

/** Of a failed job: in how many other builds the same has happened. */
export function AlsoIn({ address: { org, pipeline, build, job } }: { address: JobAddress }) {
  const { data } = useQuery(failureSummaryQuery({ org, pipeline, build }))
  const cause = data?.jobs.find(({ id }) => id === job)?.cause ?? null
  if (cause === null || cause.builds === 0) return null
  return (
    <Link
      to="/organizations/$org/log-search"
      params={{ org }}
      search={{ q: longestPart(cause.text) }}
      title={cause.text}
    >
      also in {cause.builds} {cause.builds === 1 ? 'build' : 'builds'}
    </Link>
  )
}
