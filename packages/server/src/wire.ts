// The responses of the REST API, as types only, for the client commands of the command line. A command that reads a missing
// field does not compile.
import type { Static } from 'typebox'
import type * as accessToken from './resources/people/access-token/schema.ts'
import type * as accessTokens from './resources/people/access-tokens/schema.ts'
import type * as agents from './resources/clusters/agents/schema.ts'
import type * as annotations from './resources/builds/annotations/schema.ts'
import type * as artifacts from './resources/builds/artifacts/schema.ts'
import type * as budgets from './resources/insights/budgets/schema.ts'
import type * as builds from './resources/builds/builds/schema.ts'
import type * as clusters from './resources/clusters/clusters/schema.ts'
import type * as failureSummary from './resources/builds/failure_summary/schema.ts'
import type * as graph from './resources/builds/graph/schema.ts'
import type * as insights from './resources/insights/insights/schema.ts'
import type * as job from './resources/job/schema.ts'
import type * as jobs from './resources/builds/jobs/schema.ts'
import type * as log from './resources/builds/log/schema.ts'
import type * as logSearch from './resources/builds/log-search/schema.ts'
import type * as members from './resources/people/members/schema.ts'
import type * as organizations from './resources/people/organizations/schema.ts'
import type * as pipelines from './resources/pipelines/pipelines/schema.ts'
import type * as queues from './resources/clusters/queues/schema.ts'
import type * as repositories from './resources/pipelines/repositories/schema.ts'
import type * as repositoryConnections from './resources/pipelines/repository_connections/schema.ts'
import type * as repositoryHealth from './resources/pipelines/repository_health/schema.ts'
import type * as secrets from './resources/clusters/secrets/schema.ts'
import type * as slowerSteps from './resources/insights/slower_steps/schema.ts'
import type * as user from './resources/people/user/schema.ts'

export type AccessToken = Static<typeof accessToken.AccessToken>
export type Agent = Static<typeof agents.Agent>
export type Annotation = Static<typeof annotations.Annotation>
export type Artifact = Static<typeof artifacts.Artifact>
export type Budget = Static<typeof budgets.Budget>
export type Build = Static<typeof builds.Build>
export type Cluster = Static<typeof clusters.Cluster>
export type CreateAnnotation = Static<typeof annotations.CreateAnnotation>
export type CreatePipeline = Static<typeof pipelines.CreatePipeline>
export type CreateSecret = Static<typeof secrets.CreateSecret>
export type FailureSummary = Static<typeof failureSummary.FailureSummary>
export type Graph = Static<typeof graph.Graph>
export type GraphStep = Static<typeof graph.GraphStep>
export type Insights = Static<typeof insights.Insights>
export type Job = Static<typeof job.Job>
export type JobWaiting = Static<typeof jobs.Waiting>
export type LogIndex = Static<typeof log.LogIndex>
export type LogSearchAnswer = Static<typeof logSearch.LogSearchAnswer>
export type LogSearchHit = Static<typeof logSearch.LogSearchHit>
export type LogSearchProgress = Static<typeof logSearch.LogSearchProgress>
export type LogRows = Static<typeof log.LogRows>
export type Member = Static<typeof members.Member>
export type Organization = Static<typeof organizations.Organization>
export type Pipeline = Static<typeof pipelines.Pipeline>
export type Queue = Static<typeof queues.Queue>
export type Repository = Static<typeof repositories.Repository>
export type RepositoryConnection = Static<typeof repositoryConnections.RepositoryConnection>
export type RepositoryHealth = Static<typeof repositoryHealth.RepositoryHealth>
export type Secret = Static<typeof secrets.Secret>
export type ShortBuild = Static<typeof graph.ShortBuild>
export type ShortJob = Static<typeof graph.ShortJob>
export type SlowerStep = Static<typeof slowerSteps.SlowerStep>
export type UpdatePipeline = Static<typeof pipelines.UpdatePipeline>
export type User = Static<typeof user.User>
export type UserAccessToken = Static<typeof accessTokens.UserAccessToken>
