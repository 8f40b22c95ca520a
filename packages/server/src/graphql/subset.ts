// The whole schema.
import type { GraphQLSchema } from 'graphql'
import { schemaOf } from './build-schema.ts'
import { absentPart } from './types/absent.ts'
import { agentPart } from './types/agent.ts'
import { buildPart } from './types/build.ts'
import { clusterQueuePart } from './types/cluster-queue.ts'
import { clusterTokenPart } from './types/cluster-token.ts'
import { clusterPart } from './types/cluster.ts'
import { jobPart } from './types/job.ts'
import { memberPart } from './types/member.ts'
import { nodePart } from './types/node.ts'
import { organizationPart } from './types/organization.ts'
import { pipelineSchedulePart } from './types/pipeline-schedule.ts'
import { pipelineTemplatePart } from './types/pipeline-template.ts'
import { pipelinePart } from './types/pipeline.ts'
import { repositoryPart } from './types/repository.ts'
import { rulePart } from './types/rule.ts'
import { suitePart } from './types/suite.ts'
import { teamMembershipPart } from './types/team-membership.ts'
import { teamPart } from './types/team.ts'

export const buildSubset = (): GraphQLSchema =>
  schemaOf([
    nodePart,
    organizationPart,
    memberPart,
    pipelinePart,
    repositoryPart,
    pipelineSchedulePart,
    pipelineTemplatePart,
    buildPart,
    jobPart,
    agentPart,
    clusterPart,
    clusterQueuePart,
    clusterTokenPart,
    teamPart,
    teamMembershipPart,
    rulePart,
    suitePart,
    absentPart,
  ])
