// The settings lead to the first of their pages that the person may open.
import { useQuery } from '@tanstack/react-query'
import { Navigate, useParams } from '@tanstack/react-router'
import { pipelineQuery } from '../../api/resource-queries.ts'
import { NotLoaded } from '../../parts/States.tsx'
import { openPipelineSettings, pipelineSettingsPath, rightsOf } from '../../shell/pipeline-settings-pages.ts'
import { organizationQuery } from '../../shell/queries.ts'

export function PipelineSettingsStartPage() {
  const { org, pipeline: slug } = useParams({ from: '/$org/$pipeline/settings' })
  const organization = useQuery(organizationQuery(org))
  const pipeline = useQuery(pipelineQuery(org, slug))
  const may = rightsOf(pipeline.data, organization.data?.viewer?.may)
  if (pipeline.data === undefined) return <NotLoaded query={pipeline} />
  const [first] = may === null ? [] : openPipelineSettings(may)
  if (first === undefined) return <NotLoaded query={organization} />
  return <Navigate to={pipelineSettingsPath(org, slug, first.name)} replace />
}
