// The operations that public clients send, with the fields that they read.

/** The agent's `tool sign`. */
export const agentDocuments = {
  getPipeline: /* GraphQL */ `
    query GetPipeline($orgPipelineSlug: ID!) {
      pipeline(slug: $orgPipelineSlug) {
        id
        repository {
          url
        }
        steps {
          yaml
        }
      }
    }
  `,
  updatePipeline: /* GraphQL */ `
    mutation UpdatePipeline($id: ID!, $yaml: String!) {
      pipelineUpdate(input: { id: $id, steps: { yaml: $yaml } }) {
        clientMutationId
        pipeline {
          steps {
            yaml
          }
        }
      }
    }
  `,
}

const jobFields = /* GraphQL */ `
  id uuid command state exitStatus url startedAt finishedAt createdAt
  agent { id name hostname metaData }
`

/** The command line `bk`. */
export const bkDocuments = {
  organizationId: /* GraphQL */ `
    query GetOrganizationID($slug: ID!) {
      organization(slug: $slug) {
        id
      }
    }
  `,
  findClusters: /* GraphQL */ `
    query FindClusters($org: ID!, $cursor: String) {
      organization(slug: $org) {
        clusters(first: 100, after: $cursor) {
          edges {
            node {
              id
              name
            }
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  `,
  findQueues: /* GraphQL */ `
    query FindQueuesForCluster($clusterId: ID!, $cursor: String) {
      node(id: $clusterId) {
        ... on Cluster {
          id
          name
          queues(first: 100, after: $cursor) {
            edges {
              node {
                id
                key
              }
            }
            pageInfo {
              hasNextPage
              endCursor
            }
          }
        }
      }
    }
  `,
  clusterQueues: /* GraphQL */ `
    query GetClusterQueues($orgSlug: ID!, $clusterId: ID!) {
      organization(slug: $orgSlug) {
        cluster(id: $clusterId) {
          name
          description
          queues(first: 10) {
            edges {
              node {
                id
                uuid
                key
                description
              }
            }
          }
        }
      }
    }
  `,
  queueAgents: /* GraphQL */ `
    query GetClusterQueueAgent($orgSlug: ID!, $queueId: [ID!]) {
      organization(slug: $orgSlug) {
        agents(first: 10, clusterQueue: $queueId) {
          edges {
            node {
              name
              hostname
              version
              id
              clusterQueue {
                id
                uuid
              }
            }
          }
        }
      }
    }
  `,
  userByEmail: /* GraphQL */ `
    query FindUserByEmail($organization: ID!, $email: String!) {
      organization(slug: $organization) {
        members(first: 1, email: $email) {
          edges {
            node {
              user {
                id
              }
            }
          }
        }
      }
    }
  `,
  jobsByQueue: /* GraphQL */ `
    query ListJobsByQueue($org: ID!, $clusterQueue: [ID!], $state: [JobStates!], $first: Int, $after: String) {
      organization(slug: $org) {
        jobs(clusterQueue: $clusterQueue, state: $state, first: $first, after: $after) {
          edges { node { ... on JobTypeCommand { ${jobFields} cluster { id name } clusterQueue { id key } } } }
          pageInfo { endCursor hasNextPage }
        }
      }
    }
  `,
  jobsByState: /* GraphQL */ `
    query ListJobsByState($org: ID!, $state: [JobStates!], $first: Int, $after: String) {
      organization(slug: $org) {
        jobs(state: $state, first: $first, after: $after) {
          edges { node { ... on JobTypeCommand { ${jobFields} label cluster { id name } clusterQueue { id key } } } }
          pageInfo { endCursor hasNextPage }
        }
      }
    }
  `,
  jobsByRules: /* GraphQL */ `
    query ListJobsByAgentQueryRules(
      $org: ID!, $agentQueryRules: [String!], $state: [JobStates!], $first: Int, $after: String
    ) {
      organization(slug: $org) {
        jobs(first: $first, after: $after, agentQueryRules: $agentQueryRules, state: $state) {
          edges { node { ... on JobTypeCommand { ${jobFields} } } }
          pageInfo { endCursor hasNextPage }
        }
      }
    }
  `,
  recentBuilds: /* GraphQL */ `
    query RecentBuildsForBranch($branch: String!, $pipelineSlug: ID!) {
      pipeline(slug: $pipelineSlug) {
        builds(first: 2, branch: [$branch]) {
          edges {
            node {
              id
              message
              number
              url
              uuid
            }
          }
        }
      }
    }
  `,
  pipelineTeams: /* GraphQL */ `
    query PipelineTeams($slug: ID!, $after: String) {
      pipeline(slug: $slug) {
        teams(first: 100, after: $after) {
          edges {
            node {
              accessLevel
              team {
                uuid
              }
            }
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  `,
  cancelJob: /* GraphQL */ `
    mutation CancelJob($jobId: ID!) {
      jobTypeCommandCancel(input: { id: $jobId }) {
        clientMutationId
        jobTypeCommand {
          id
          uuid
          state
          url
        }
      }
    }
  `,
  retryJob: /* GraphQL */ `
    mutation RetryJob($id: ID!) {
      jobTypeCommandRetry(input: { id: $id }) {
        jobTypeCommand {
          id
          state
          url
        }
      }
    }
  `,
  unblockJob: /* GraphQL */ `
    mutation UnblockJob($id: ID!, $fields: JSON) {
      jobTypeBlockUnblock(input: { id: $id, fields: $fields }) {
        jobTypeBlock {
          id
          state
          isUnblockable
          build {
            url
          }
        }
      }
    }
  `,
  inviteUser: /* GraphQL */ `
    mutation InviteUser($organization: ID!, $emails: [String!]!) {
      organizationInvitationCreate(input: { organizationID: $organization, emails: $emails }) {
        clientMutationId
      }
    }
  `,
  createWebhook: /* GraphQL */ `
    mutation PipelineCreateWebhook($id: ID!) {
      pipelineCreateWebhook(input: { id: $id }) {
        clientMutationId
        pipelineID
      }
    }
  `,
}
