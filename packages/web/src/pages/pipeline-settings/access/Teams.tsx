import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Empty } from '../../../parts/States.tsx'
import { accessNames, addPipeline, deleteTeamPipeline, updateTeamPipeline } from '../../team/queries.ts'
import { TeamAccess } from '../../teams/TeamAccess.tsx'
import type { Pipeline, PipelineAddress } from '../queries.ts'
import { pipelineTeamsQuery, type PipelineTeam } from './queries.ts'

interface Props {
  address: PipelineAddress
  pipeline: Pipeline
  mayEdit: boolean
}

export function Teams({ address, pipeline, mayEdit }: Props) {
  const { org } = address
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(pipelineTeamsQuery(address))
  const reload = () => queryClient.invalidateQueries({ queryKey: pipelineTeamsQuery(address).queryKey })
  const change = async (team: string, level: PipelineTeam['access_level']) => {
    await updateTeamPipeline({ org, team }, pipeline.id, level)
    await reload()
  }
  const add = async (team: string, level?: PipelineTeam['access_level']) => {
    await addPipeline({ org, team }, pipeline.id, level)
    await reload()
  }
  const remove = async (team: string) => {
    await deleteTeamPipeline({ org, team }, pipeline.id)
    await reload()
  }
  return (
    <TeamAccess
      org={org}
      list={list}
      rows={list.data?.pages.flatMap((page) =>
        page.rows.map(({ team: { id, name }, access_level: level }) => ({ id, name, level })),
      )}
      levels={accessNames}
      empty={<Empty title="No team has access yet" />}
      mayEdit={mayEdit}
      onAdd={add}
      onChange={change}
      onRemove={remove}
    />
  )
}
