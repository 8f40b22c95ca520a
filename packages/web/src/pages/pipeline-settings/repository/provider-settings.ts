// What is built and reported for a source host. The API names the settings that a host has; here they get their words.
interface Group {
  title: string
  settings: ReadonlyArray<readonly [name: string, label: string]>
}

const checkboxes: readonly Group[] = [
  {
    title: 'Build',
    settings: [
      ['build_branches', 'Pushes to branches'],
      ['build_tags', 'Pushed tags'],
      ['build_pull_requests', 'Pull requests'],
      ['build_pull_request_forks', 'Pull requests from forks'],
      [
        'trust_pull_request_forks',
        'Forks with the secrets of this pipeline: everybody who may open one gets them',
      ],
      ['build_merge_group_checks_requested', 'Merge queues'],
      ['build_release_published', 'Published releases'],
      ['build_release_created', 'Created releases'],
      ['build_release_released', 'Releases that are no longer a pre-release'],
      ['build_create_event', 'Created branches and tags'],
      ['build_check_run_completed', 'Completed check runs'],
      ['build_deployment_status_created', 'Statuses of deployments'],
      ['build_issue_comment_created', 'Comments with the command word'],
      ['build_pull_request_review_comment_created', 'Review comments with the command word'],
    ],
  },
  {
    title: 'Build a pull request again when it',
    settings: [
      ['build_pull_request_reopened', 'Is reopened'],
      ['build_pull_request_ready_for_review', 'Becomes ready for review'],
      ['build_pull_request_converted_to_draft', 'Becomes a draft'],
      ['build_pull_request_edited', 'Is edited'],
      ['build_pull_request_labels_changed', 'Gets or loses a label'],
      ['build_pull_request_base_branch_changed', 'Gets another base branch'],
      ['build_pull_request_review_requested', 'Gets a reviewer'],
      ['build_pull_request_review_submitted', 'Is reviewed'],
      ['build_pull_request_review_dismissed', 'Loses a review'],
      ['build_pull_request_dequeued', 'Leaves the merge queue'],
    ],
  },
  {
    title: 'Builds of pull requests',
    settings: [
      ['prefix_pull_request_fork_branch_names', 'Put the owner before the branches of forks'],
      ['build_pull_request_merge', 'Build what merging the pull request would give'],
      ['build_pull_request_merge_commits', 'Build what merging the pull request would give'],
      ['build_pull_request_stacks', 'Build stacked pull requests'],
      [
        'use_merge_group_base_commit_for_git_diff_base',
        'In merge queues, compare with the base of the group',
      ],
      ['github_workflow_access_tokens_enabled', 'Let jobs ask for tokens of the GitHub App'],
    ],
  },
  {
    title: 'Do not build',
    settings: [
      [
        'skip_pull_request_builds_for_existing_commits',
        'Pull requests whose commit was built on the same branch',
      ],
      ['skip_builds_for_existing_commits', 'Commits that were built on any branch'],
      ['skip_builds_for_closed_pull_requests', 'Closed pull requests'],
      ['ignore_default_branch_pull_requests', 'Pull requests from a branch named as the default branch'],
    ],
  },
  {
    title: 'Cancel builds',
    settings: [
      ['cancel_deleted_branch_builds', 'Of deleted branches'],
      ['cancel_when_merge_group_destroyed', 'Of merge groups that are gone'],
    ],
  },
  {
    title: 'Commit statuses',
    settings: [
      ['publish_commit_status', 'Report each build'],
      ['publish_commit_status_per_step', 'Report each step'],
      ['publish_status_when_not_built', 'Report success where no build is needed'],
      ['failure_comment', 'Comment failing lines on pull requests'],
      ['publish_blocked_as_pending', 'Report a blocked build as pending'],
      ['separate_pull_request_statuses', 'Report pull requests apart'],
      ['use_step_key_as_commit_status', 'Name steps by their key'],
      ['prevent_custom_statuses_from_using_buildkite_prefix', 'Keep our prefixes from notify'],
    ],
  },
]

export type Settings = Readonly<Record<string, string | boolean | null>>

/** Of each group what the host has. Groups without any are left out. */
export const groupsOf = (settings: Settings): Group[] =>
  checkboxes
    .map(({ title, settings: all }) => ({
      title,
      settings: all.filter(([name]) => typeof settings[name] === 'boolean'),
    }))
    .filter(({ settings: some }) => some.length > 0)
