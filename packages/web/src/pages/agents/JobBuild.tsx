import { Link } from '@tanstack/react-router'
import { showLabel } from '../../parts/labels.ts'

interface Props {
  org: string
  job: { pipeline: { name: string; slug: string }; build: { number: number; message: string | null } }
}

/** Where a job belongs: its pipeline and its build, each with a link. */
export const JobBuild = ({ org, job: { pipeline, build } }: Props) => (
  <>
    <Link
      to="/$org/$pipeline"
      params={{ org, pipeline: pipeline.slug }}
      title={showLabel(pipeline.name)}
      tabIndex={-1}
    >
      {showLabel(pipeline.name)}
    </Link>{' '}
    <Link
      to="/$org/$pipeline/builds/$number"
      params={{ org, pipeline: pipeline.slug, number: String(build.number) }}
      title={showLabel(build.message ?? '')}
      tabIndex={-1}
    >
      #{build.number}
    </Link>
  </>
)
