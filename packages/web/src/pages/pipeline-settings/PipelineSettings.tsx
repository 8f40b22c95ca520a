import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { pipelineQuery } from '../../api/resource-queries.ts'
import { LinkButton } from '../../parts/Button.tsx'
import { Notice } from '../../parts/settings/Notice.tsx'
import { SettingsLayout } from '../../parts/settings/SettingsLayout.tsx'
import { Denied, NotLoaded } from '../../parts/States.tsx'
import {
  findPipelineSettings,
  openPipelineSettings,
  pipelineSettingsPath,
  rightsOf,
  type PipelineRights,
  type PipelineSettingsName,
} from '../../shell/pipeline-settings-pages.ts'
import { organizationQuery } from '../../shell/queries.ts'
import type { Pipeline, PipelineAddress } from './queries.ts'

interface Shown {
  pipeline: Pipeline
  may: PipelineRights
}

interface Props {
  address: PipelineAddress
  name: PipelineSettingsName
  subtitle?: ReactNode
  renderActions?: (shown: Shown) => ReactNode
  /** Is called only for those who may open the page, so nothing is asked for others. */
  children: (shown: Shown) => ReactNode
}

/** A page of a pipeline's settings. Whoever may not open it reads who may. */
export function PipelineSettings({ address, name, subtitle, renderActions, children }: Props) {
  const { org, pipeline: slug } = address
  const organization = useQuery(organizationQuery(org))
  const { data: pipeline, ...query } = useQuery(pipelineQuery(org, slug))
  const may = rightsOf(pipeline, organization.data?.viewer?.may)
  const page = findPipelineSettings(name)
  if (query.error !== null || pipeline === undefined) return <NotLoaded query={query} />
  if (may === null || page === undefined) return <NotLoaded query={organization} />
  const isOpen = page.isOpenTo(may)
  const isClosed = pipeline.archived_at !== null && page.isClosedInArchive === true
  const shown = { pipeline, may }
  return (
    <SettingsLayout
      of={pipeline.name}
      pages={openPipelineSettings(may).map((each) => ({
        title: each.title,
        to: pipelineSettingsPath(org, slug, each.name),
      }))}
      title={page.title}
      subtitle={isOpen ? subtitle : undefined}
      actions={isOpen && !isClosed ? renderActions?.(shown) : undefined}
    >
      {isOpen && isClosed && <Archived address={address} />}
      {isOpen && !isClosed && children(shown)}
      {!isOpen && (
        <Denied title="You may not change this pipeline.">
          This page needs the right to manage it. An administrator of the organization gives it to a team of
          yours.
        </Denied>
      )}
    </SettingsLayout>
  )
}

const Archived = ({ address: { org, pipeline } }: { address: PipelineAddress }) => (
  <Notice
    action={
      <LinkButton to="/$org/$pipeline/settings/danger" params={{ org, pipeline }}>
        Unarchive…
      </LinkButton>
    }
  >
    This pipeline is archived, so it cannot be changed.
  </Notice>
)
