// Written by `npm run client:generate` from the OpenAPI document of the service: change that, not this file.

export interface paths {
    "/api/v1/agent-approvals/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the approval requests of all projects that the caller belongs to, newest first.
         * @description `status=decided`: what a person has approved or rejected.
         */
        get: operations["get_agent_approvals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-approvals/{request_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one approval request of a project that the caller belongs to. */
        get: operations["get_agent_approvals_request_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/all-workflows/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the workflows of all projects of the caller, bookmarked ones first. */
        get: operations["get_all_workflows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/all-workflows/{id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one workflow with its figures. */
        get: operations["get_all_workflows_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/all-workflows/{id}/add-bookmark/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bookmarks the workflow for the caller; a repeat changes nothing. */
        post: operations["post_all_workflows_id_add_bookmark"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/all-workflows/{id}/delete-bookmark/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Removes the caller's bookmark; without one, nothing changes. */
        delete: operations["delete_all_workflows_id_delete_bookmark"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-keys/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the caller's API keys, oldest first; with `user`, for administrators, that user's. */
        get: operations["get_api_keys"];
        put?: never;
        /** Creates an API key of the caller and shows it, once. `rate_limit` is for administrators (403). */
        post: operations["post_api_keys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-keys/{id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Deletes an API key of the caller; administrators delete anybody's. It is refused from then on. */
        delete: operations["delete_api_keys_id"];
        options?: never;
        head?: never;
        /** Changes an API key of the caller. Administrators change `rate_limit`, and of others' keys only that. */
        patch: operations["patch_api_keys_id"];
        trace?: never;
    };
    "/api/v1/audit/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the changes and refusals of all projects and of what belongs to none, for administrators.
         * @description `user` is who has acted. `from` is included; `to` is not, unless it is a day.
         */
        get: operations["get_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/link/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Signs a user in by the token of a sign-in link.
         * @description A link is good once and for ten minutes. The answer is that of a login.
         */
        post: operations["post_auth_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/login/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Signs a user in by e-mail address and password.
         * @description The answer sets the refresh cookie. After five failed logins in a minute for an account from one address the answer is 429. While many logins for an account fail, or many are being checked, the first attempt from an address that is new to the account is a 429 too, with a `Retry-After` of half a minute.
         */
        post: operations["post_auth_login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/logout/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ends the session of the refresh cookie, if there is one.
         * @description Its access tokens end with it. Pages of other origins are refused.
         */
        post: operations["post_auth_logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/oidc/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sends the browser to the identity provider.
         * @description A browser that asks for a page (`Accept: text/html`) is sent to the sign-in page with `?problem=` and the code of what went wrong, instead of getting the error itself.
         */
        get: operations["get_auth_oidc"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/oidc/callback/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Takes the answer of the identity provider, signs the user in and sends the browser to the service.
         * @description Only in the browser that began, within ten minutes. The answer sets the refresh cookie; the page that the browser is sent to gets its access token by a refresh. A browser that asks for a page (`Accept: text/html`) is sent to the sign-in page with `?problem=` and the code of what went wrong, instead of getting the error itself.
         */
        get: operations["get_auth_oidc_callback"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/password/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Changes the caller's password and ends their other sessions.
         * @description A wrong `current_password` is a 400 on that field and counts as a failed login; too many of them are a 429. Links of the user that nobody has used are ended, too.
         */
        post: operations["post_auth_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/password/reset/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sets a password by the token of a password link, and signs the user in.
         * @description A link is good once and for 24 hours; a used or older one is a 401. All sessions and all other links of the user end. The answer is that of a login.
         */
        post: operations["post_auth_password_reset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/providers/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists ways to sign in besides a password: a name for people, and the address that a link leads to. */
        get: operations["get_auth_providers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/refresh/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchanges the refresh cookie for a new one and a new access token.
         * @description Each cookie is good once: a used one is refused and ends its session. Of several requests at the same moment each gets an access token, and the first one the new cookie. Pages of other origins are refused.
         */
        post: operations["post_auth_refresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/sessions/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the caller's live sessions, the one that was used last first. */
        get: operations["get_auth_sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/sessions/{session_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Ends a session of the caller, and with it its access tokens. */
        delete: operations["delete_auth_sessions_session_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/billing-history/chat/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the transactions of the chat proxy, newest first.
         * @description One for each call that was made: of the caller's projects, and the caller's own that belong to no project.
         */
        get: operations["get_billing_history_chat"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/billing-history/workflowrun/{run_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the transactions of a run, oldest first: one per executed node, and the marketplace fee if one was charged. */
        get: operations["get_billing_history_workflowrun_run_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/callbacks/{token}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answers a node that waits for a callback. The first answer counts.
         * @description The token is all that is needed: whoever knows the address may answer, once. The body is any text; later nodes read it as `{{ NODE_ID.result.content }}`, and its fields where it is JSON. An answer that comes before the node waits is kept. 410: the run has ended, or the time to answer is over.
         */
        post: operations["post_callbacks_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/categories/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the categories of workflows by name, each before its subcategories. */
        get: operations["get_categories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connection-presets/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists services that a connection may be made to, by name.
         * @description A preset has the kind, the origins and the settings of a new connection. A name in braces, such as `{subdomain}`, stands for a part of an address that differs from account to account; it is replaced everywhere before the connection is made.
         */
        get: operations["get_connection_presets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connections/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the connections for which somebody has to sign in again, of all projects whose owner or admin the caller is.
         * @description A connection is listed once a run waits for it, or its grant was lost.
         */
        get: operations["get_connections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connections/callback/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Takes the answer of a provider, and sends the browser to the settings of the project.
         * @description Where the sign-in has failed, the address of the page has `error=` with the reason.
         */
        get: operations["get_connections_callback"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{conversation_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one conversation. */
        get: operations["get_conversations_conversation_id"];
        put?: never;
        post?: never;
        /** Deletes a conversation of the caller with its messages, and cancels its runs in flight. */
        delete: operations["delete_conversations_conversation_id"];
        options?: never;
        head?: never;
        /** Changes the title of a conversation of the caller. */
        patch: operations["patch_conversations_conversation_id"];
        trace?: never;
    };
    "/api/v1/conversations/{conversation_id}/messages/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the messages of the conversation and the answers to them, oldest first.
         * @description An answer is there once its run has ended. A page that is very large has some contents `truncated`.
         */
        get: operations["get_conversations_conversation_id_messages"];
        put?: never;
        /**
         * Sends a message, which starts a run of the workflow; the answer becomes a message when the run ends.
         * @description The input of the run has `message`, `messages` (what was said before and the message itself, as `[{role, content}]`), `conversation_id`, `files` and the `inputs` of the conversation. A queued message is answered in its turn: its run polls as `in queue`, and rights and input are judged when it starts. With `replaces` it is asked anew from there. 400 `not_chat`: the workflow is no chat any more. 409: `busy`, or `queue_full`.
         */
        post: operations["post_conversations_conversation_id_messages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/file-links/{token}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the bytes of the file to which a link leads. 403: `link_invalid` or `link_expired`. */
        get: operations["get_file_links_token"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/files/{file_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns what is known of a file, and how many refer to it. */
        get: operations["get_files_file_id"];
        put?: never;
        post?: never;
        /** Deletes a file and its bytes. 409: a run in flight holds it. Entries of ended runs say `deleted: true` then. */
        delete: operations["delete_files_file_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/files/{file_id}/content/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the bytes of a file, or one range of them. */
        get: operations["get_files_file_id_content"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/files/{file_id}/link/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a link to the bytes, which needs no credentials and expires. */
        post: operations["post_files_file_id_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/{token}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Starts a run of the workflow whose hook has this address; the body is the input, as with an API key, or brings files along.
         * @description The address is all that is needed where the hook asks for no signatures (`verify`). A form is an object of its fields, with JSON in the field `payload`. The same `webhook-id` (or `svix-id`), `X-GitHub-Delivery` or `Idempotency-Key` within 24 hours gives the first run's id; where the sender signs an id (Standard Webhooks: `webhook-id`; Stripe: the event's `id`), that one alone counts. 403: the author of the hook may not run the workflow any more. 422: the trigger refuses the input, and nothing is kept. 429: more than 60 deliveries in a minute.
         */
        post: operations["post_hooks_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/human-tasks/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the human tasks that the caller may answer, newest first.
         * @description Over all projects that the caller belongs to. A pending task that the caller has answered, and that waits for more people, is not among the pending ones. `status=decided` is another word for `answered`.
         */
        get: operations["get_human_tasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/human-tasks/{task_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one human task of a project that the caller belongs to. */
        get: operations["get_human_tasks_task_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/human-tasks/{task_id}/answer/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answers a human task: the caller chooses one of its actions.
         * @description Each person answers once. The task is settled when `required` people have chosen the same action. 409 with the code `settled`: it was settled before, its time is over, or its run has ended; with `already_answered`: the caller has answered. 403: the caller is not among the assignees, or has started the run and is excluded by that.
         */
        post: operations["post_human_tasks_task_id_answer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/languages/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists languages by name (ISO 639-1). `search` looks into codes and names. */
        get: operations["get_languages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the user of the credentials. */
        get: operations["get_me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the models that the operator has configured, with the prices of a million tokens.
         * @description A provider that serves any model (`*`) adds none: the list is then not complete.
         */
        get: operations["get_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/openapi.json/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns this interface as an OpenAPI 3.1 document. */
        get: operations["get_openapi_json"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pools/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the pools of workers, for administrators.
         * @description The default pool, and those that have a worker, that a project names, or in which something waits. `backlog` is what no worker has taken yet.
         */
        get: operations["get_pools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the projects that the caller is a member of, newest first. */
        get: operations["get_projects"];
        put?: never;
        /** Creates a project; the caller becomes its owner. A key that is restricted to a project may not. */
        post: operations["post_projects"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one project. */
        get: operations["get_projects_id"];
        put?: never;
        post?: never;
        /** Deletes the project with its workflows; the books stay. */
        delete: operations["delete_projects_id"];
        options?: never;
        head?: never;
        /**
         * Changes the name, the webhook, the limit of what the project may spend, or its pools.
         * @description `pool` and `pools` are changed by administrators of the service alone, members or not, in a session (403 for others). One who is no member is answered `{id, name, pool, pools}`.
         */
        patch: operations["patch_projects_id"];
        trace?: never;
    };
    "/api/v1/projects/{id}/audit/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists what was changed in a project, by whom and from where, and what was refused; newest first.
         * @description `user` is who has acted. `from` is included; `to` is not, unless it is a day.
         */
        get: operations["get_projects_id_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/connections/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the connections of the project, by name. */
        get: operations["get_projects_id_connections"];
        put?: never;
        /** Makes a connection. One of OAuth begins without an authorization (`authorize/`). */
        post: operations["post_projects_id_connections"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/connections/{connection_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one connection. */
        get: operations["get_projects_id_connections_connection_id"];
        put?: never;
        post?: never;
        /**
         * Deletes a connection. Nodes that name it fail with `connection_missing` from then on.
         * @description One that workflows name is a 409 that names them, unless `force=true`.
         */
        delete: operations["delete_projects_id_connections_connection_id"];
        options?: never;
        head?: never;
        /**
         * Changes a connection. A secret that is left out, or ********, keeps its value.
         * @description A change of `origins`, `token_url`, `authorize_url` or `server_url` brings the secrets again, and takes the authorization away: a secret is never sent to an address for which it was not entered. Null removes an optional secret.
         */
        patch: operations["patch_projects_id_connections_connection_id"];
        trace?: never;
    };
    "/api/v1/projects/{id}/connections/{connection_id}/authorize/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begins to sign in at the provider of a connection: the browser goes to the address.
         * @description For sessions only. The answer sets a cookie, so that the sign-in counts in this browser alone, once, for ten minutes. The provider sends the browser to `/api/v1/connections/callback/`, and that to the settings of the project.
         */
        post: operations["post_projects_id_connections_connection_id_authorize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/connections/{connection_id}/test/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tries the connection: a GET at one of its origins, or the list of tools of its MCP server.
         * @description Without `url`, the request goes to `/` of the first origin (for a `path` connection, to its prefix there), or to the `server_url` of an `mcp_oauth` connection. If the first origin has a wildcard, `url` is required.
         */
        post: operations["post_projects_id_connections_connection_id_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/connections/{connection_id}/used-by/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the workflows that name the connection, and the open runs that have used it or wait for it. */
        get: operations["get_projects_id_connections_connection_id_used_by"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/files/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the files of the project, newest first. */
        get: operations["get_projects_id_files"];
        put?: never;
        /**
         * Uploads a file: as the field `file` of multipart/form-data, or as the whole body with `X-File-Name`.
         * @description The answer is the value of the file, which runs take. A file that nothing refers to is removed after a day. 413: it has more than `MAX_FILE_BYTES`, or the project would store more than it may. 408: no byte came for 60 seconds.
         */
        post: operations["post_projects_id_files"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/hooks/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the hooks of all workflows of the project, those of a workflow together, oldest first. */
        get: operations["get_projects_id_hooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/import/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes a workflow of a file: one that was exported here, or one of n8n.
         * @description Secrets begin empty. Of a file of n8n, nodes with an equivalent here are translated, and each of the others becomes a note beside the nodes (`data.notes`). `warnings` lists what was left out or has to be filled in.
         */
        post: operations["post_projects_id_import"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/members/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the members of a project, in the order in which they joined. */
        get: operations["get_projects_id_members"];
        put?: never;
        /** Adds a user, named by `email` or `user_id`, with a role. Only owners make owners. */
        post: operations["post_projects_id_members"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/members/{user_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Removes a member. Everybody may leave; only owners remove owners.
         * @description The last owner stays: 400, code `last_owner`.
         */
        delete: operations["delete_projects_id_members_user_id"];
        options?: never;
        head?: never;
        /**
         * Changes the role of a member. Only owners make owners and change the role of one.
         * @description The last owner stays: 400, code `last_owner`.
         */
        patch: operations["patch_projects_id_members_user_id"];
        trace?: never;
    };
    "/api/v1/projects/{id}/provider-keys/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the project's own keys for model providers, masked; the newest of a provider is used. */
        get: operations["get_projects_id_provider_keys"];
        put?: never;
        /** Stores a key for a model provider; the runs of the project use it from now on. */
        post: operations["post_projects_id_provider_keys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/provider-keys/{key_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Deletes a key for a model provider; later calls use an older one, or that of the platform. */
        delete: operations["delete_projects_id_provider_keys_key_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/schedules/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the schedules of all workflows of the project, those of a workflow together, oldest first. */
        get: operations["get_projects_id_schedules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/services/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes a service of an OpenAPI document (3.0, 3.1 or Swagger 2.0).
         * @description Of two operations with one id the second gets another one, made from method and path. References to other documents are not followed. The requests go to the servers of the document, or to `server_url`, over https.
         */
        post: operations["post_projects_id_services"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/services/{service_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Replaces the document of a service. Drawings keep what their nodes have stored.
         * @description Without `name` the service is called as the new document says.
         */
        put: operations["put_projects_id_services_service_id"];
        post?: never;
        /**
         * Deletes a service. Drawings keep what their nodes have stored.
         * @description While workflows use it, 409 `in_use`, unless `force` is `true`.
         */
        delete: operations["delete_projects_id_services_service_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/spending/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the limit of a project, what is spent and reserved of it, and what limits have stopped in the last 30 days. */
        get: operations["get_projects_id_spending"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/tags/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the tags of the workflows of a project, each with the number of workflows that have it. */
        get: operations["get_projects_id_tags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/webhook-deliveries/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the events of the webhook with the state of their delivery, newest first. */
        get: operations["get_projects_id_webhook_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/webhook-deliveries/{delivery_id}/send-again/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sends an event again that was delivered, has failed or was dropped, with the same `webhook-id`.
         * @description One attempt is made, without retries. Nothing is sent if the event is still pending, or was sent again in the last ten seconds. 400 while the webhook is switched off or has no address.
         */
        post: operations["post_projects_id_webhook_deliveries_delivery_id_send_again"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/webhook-secret/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a new signing secret and shows it once. For 24 hours, deliveries are also signed with the previous secret. */
        post: operations["post_projects_id_webhook_secret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the runs of all workflows of the caller, without their contents.
         * @description Runs of deleted workflows are left out. `search` looks into the titles of workflows. `started_after` and `started_before` are about `created_at`, the moment in which a run was accepted.
         */
        get: operations["get_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one run with its whole results, to a caller who knows only its id. */
        get: operations["get_runs_run_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/services/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the services of a project by name, followed by those of the catalogue.
         * @description Without `project`, only services of the catalogue are listed. `search` finds services with all its words in their name and description, or in their name and the title of one action.
         */
        get: operations["get_services"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/services/{service_id}/actions/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the actions of a service, in the order of its document. */
        get: operations["get_services_service_id_actions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/services/{service_id}/actions/{action_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one action with its fields and the schema of its answer. */
        get: operations["get_services_service_id_actions_action_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/usage/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sums up runs, model calls, tokens and money of the caller's projects.
         * @description `from` and `to` are UTC days, both included: the last 30 days, unless they say otherwise, and 366 at most. Days come in their order and only where something was used; other groups begin with the most expensive one.
         */
        get: operations["get_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists all users, for administrators. `search` looks into names and e-mail addresses. */
        get: operations["get_users"];
        put?: never;
        /** Creates a user, for administrators. An administrator is made in a session only. */
        post: operations["post_users"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Changes a user, for administrators. `email`, `is_admin` and `is_active` change in a session only.
         * @description `is_active: false` ends the sessions and streams of the user, refuses their keys, logins and links (401), hides their hooks (404) and pauses their schedules; runs in flight go on. Active again, keys and hooks are good again, and the schedules stay paused. The last active administrator stays both: 400, code `last_admin`.
         */
        patch: operations["patch_users_id"];
        trace?: never;
    };
    "/api/v1/users/{id}/password-link/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes a link by which a user sets a password, for administrators.
         * @description The link is good once and for 24 hours, and signs the user in. 400, code `user_inactive` or `no_email`: nobody could sign in by the password.
         */
        post: operations["post_users_id_password_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{id}/sessions/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the live sessions of a user, for administrators, the one that was used last first. */
        get: operations["get_users_id_sessions"];
        put?: never;
        post?: never;
        /** Ends all sessions of a user, and with them their access tokens, for administrators. */
        delete: operations["delete_users_id_sessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the workflows of the projects that the caller is a member of, in their order. */
        get: operations["get_workflows"];
        put?: never;
        /** Creates a workflow at the end of its project. */
        post: operations["post_workflows"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one workflow. */
        get: operations["get_workflows_id"];
        put?: never;
        post?: never;
        /** Archives the workflow: no read shows it any more, and its runs stay in the books. */
        delete: operations["delete_workflows_id"];
        options?: never;
        head?: never;
        /**
         * Changes title, drawing, limit or marketplace fields; ******** in a secret place keeps what is stored.
         * @description With `If-Match`, the `ETag` of an earlier answer, nothing is changed when somebody else has changed the workflow since (412). A change of `data` that changes what runs makes a new version. A change of `data` with `from_draft`, or by a session, ends the caller's draft.
         */
        patch: operations["patch_workflows_id"];
        trace?: never;
    };
    "/api/v1/workflows/{id}/assistant/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the caller's conversation with the assistant in the editor of the workflow. */
        get: operations["get_workflows_id_assistant"];
        /**
         * Sets the model of the assistant, and begins the conversation where there is none.
         * @description Messages are sent to `/api/v1/conversations/{conversation_id}/messages/`. The answers change the draft of the caller, whose runs have the purpose `assistant`. 400: the service has no such model.
         */
        put: operations["put_workflows_id_assistant"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/assistant/before/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns the draft of the caller as it was before the newest answer of the assistant.
         * @description 404 where the assistant has not answered yet, and where the draft has been saved or discarded since, or after 30 days.
         */
        get: operations["get_workflows_id_assistant_before"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/case-runs/{case_run_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns how cases ended that were run together. */
        get: operations["get_workflows_id_case_runs_case_run_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/case-runs/{case_run_id}/cancel/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stops cases that were started together. */
        post: operations["post_workflows_id_case_runs_case_run_id_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/cases/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the cases of a workflow. */
        get: operations["get_workflows_id_cases"];
        put?: never;
        /** Makes a case: an input and mocks, and what is expected of the run. */
        post: operations["post_workflows_id_cases"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/cases/{case_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one case of a workflow. */
        get: operations["get_workflows_id_cases_case_id"];
        put?: never;
        post?: never;
        /** Removes a case. */
        delete: operations["delete_workflows_id_cases_case_id"];
        options?: never;
        head?: never;
        /** Changes a case. A value of the input with `********`, as answers show it, stays as it is. */
        patch: operations["patch_workflows_id_cases_case_id"];
        trace?: never;
    };
    "/api/v1/workflows/{id}/cases/from-run/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a case of a run: its input, mocks of the nodes with side effects, and its output as what is expected. */
        post: operations["post_workflows_id_cases_from_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/cases/run/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs cases: each is a test run of the whole drawing, which waits for nobody. */
        post: operations["post_workflows_id_cases_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/check_workflow/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Checks whether the drawing would run, and warns of what is odd about it. */
        get: operations["get_workflows_id_check_workflow"];
        put?: never;
        /**
         * Checks whether a drawing that is not stored would run, and warns of what is odd about it.
         * @description The answer of the GET for `drawing`, of which nothing is stored. `********` in it is the stored value, with `from_draft` that of the draft.
         */
        post: operations["post_workflows_id_check_workflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/conversations/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the caller's conversations with the workflow, for owner and admins those of everybody, newest first.
         * @description 400 `not_chat`: the workflow is no chat (`is_chat`).
         */
        get: operations["get_workflows_id_conversations"];
        put?: never;
        /**
         * Begins a conversation with a workflow that is a chat.
         * @description `inputs` are the trigger's other fields for each message; `user` is the caller's name for an end user. 400 `not_chat`: the workflow is no chat. 400 `too_many_conversations`: the project has as many as it may.
         */
        post: operations["post_workflows_id_conversations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/draft/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the unsaved drawing of the caller; 404 if there is none. */
        get: operations["get_workflows_id_draft"];
        /**
         * Keeps an unsaved drawing of the caller: at most 1 MiB, for 30 days.
         * @description Nobody else reads it, and nothing runs it. `********` keeps the value of the draft that it replaces. Where that has none, it stands for the one of the workflow, once the drawing is saved. With `If-Match`, the `ETag` of an earlier answer, nothing is changed when the draft is another one by now, or gone (412); with `If-None-Match: *` nothing is when there is one.
         */
        put: operations["put_workflows_id_draft"];
        post?: never;
        /** Removes the unsaved drawing of the caller. */
        delete: operations["delete_workflows_id_draft"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/duplicate/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Copies a workflow, its secrets included, to the end of its project. */
        post: operations["post_workflows_id_duplicate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/estimate/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Says what a test would execute, and the most that it would reserve.
         * @description Rendered with the input, its defaults, and what the test would take. Pins count, mocks do not. Variables without a value count as empty.
         */
        post: operations["post_workflows_id_estimate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/export/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns the workflow as a file, with ******** for secrets and credential headers of every node.
         * @description A credential header whose value is nothing but variables stays as it is.
         */
        get: operations["get_workflows_id_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/history/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the runs of a workflow; what is too long for a list is cut and marked `truncated`. */
        get: operations["get_workflows_id_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/history/{run_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one run with its whole results. */
        get: operations["get_workflows_id_history_run_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/history/{run_id}/cancel/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancels a run; 400 when it has finished. */
        post: operations["post_workflows_id_history_run_id_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/history/{run_id}/iterations/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the iterations of a loop that have begun, in their order, with their nodes.
         * @description A loop inside another loop is asked for with the `path` of the iteration around it. A node that is no loop has no iterations.
         */
        get: operations["get_workflows_id_history_run_id_iterations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/history/{run_id}/nodes/{node_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns one node of a run: its entry of the poll, its attempts, what it was given, and its transactions.
         * @description A node that the poll does not list, because the run has not reached it, is a 404. `path` names the enclosing iteration of a node inside a loop.
         */
        get: operations["get_workflows_id_history_run_id_nodes_node_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/history/{run_id}/nodes/{node_id}/steps/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists what an agent has done: its model calls in their order, with the tool calls that each of them asked for.
         * @description A node that is no agent has no steps. `path` names the enclosing iteration of a node inside a loop. Once the results have expired, models, tokens, costs and times remain.
         */
        get: operations["get_workflows_id_history_run_id_nodes_node_id_steps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/history/{run_id}/re-run/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs the workflow as it is now with the input of an earlier run, or with the body as in run. */
        post: operations["post_workflows_id_history_run_id_re_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/history/{run_id}/resume/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Starts a run that takes over the results of an earlier one and executes only what is left.
         * @description Without `from`, it begins with what failed, was cancelled or never ran. Results that are taken over are marked `reused`: nothing is executed and nothing paid for them. 400 with the code `run_open`: the run, or one that it has started, is open; `run_expired`: its results are gone; `nothing_left`: every node has its result; `outcome_unknown`: nobody knows what a call of a node that would be repeated has done, and `accept_unknown` is not set; `unknown_node`: `from` names a node inside a body, or one that the run never had.
         */
        post: operations["post_workflows_id_history_run_id_resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/history/{run_id}/toggle-api-run/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Marks the API run of the workflow; the one before loses the mark. */
        post: operations["post_workflows_id_history_run_id_toggle_api_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/history/{run_id}/toggle-marketplace-example/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Shows the run as an example on the marketplace, or no longer. */
        post: operations["post_workflows_id_history_run_id_toggle_marketplace_example"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/history/{run_id}/toggle-marketplace-use/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Marks a succeeded run as the marketplace template; the one before loses the mark. */
        post: operations["post_workflows_id_history_run_id_toggle_marketplace_use"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/hooks/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the hooks of the workflow, oldest first; an address is shown to its author and to owners. */
        get: operations["get_workflows_id_hooks"];
        put?: never;
        /** Makes a hook, which starts runs in the name of the caller. Its secret is shown once. */
        post: operations["post_workflows_id_hooks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/hooks/{hook_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Deletes a hook: its address is a 404 from then on. Runs that it has started go on. */
        delete: operations["delete_workflows_id_hooks_hook_id"];
        options?: never;
        head?: never;
        /**
         * Replaces the secret of a hook: by one that the sender has, or by a new one. It is shown once.
         * @description The one before is refused from then on. 400 for a hook that asks for no signatures.
         */
        patch: operations["patch_workflows_id_hooks_hook_id"];
        trace?: never;
    };
    "/api/v1/workflows/{id}/input-fields/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the input fields of the start node. */
        get: operations["get_workflows_id_input_fields"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/pins/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the pins of a workflow. */
        get: operations["get_workflows_id_pins"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/pins/{node_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Pins a result to a node: tests take it in place of executing the node.
         * @description No other run reads a pin. Its secrets are masked as in results. A pin has at most 1 MiB, and all pins of a workflow 8 MiB.
         */
        put: operations["put_workflows_id_pins_node_id"];
        post?: never;
        /** Removes a pin. */
        delete: operations["delete_workflows_id_pins_node_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/publish-on-marketplace/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Offers the template run's drawing on the marketplace; the slug is chosen at the first time and stays.
         * @description Required cases of the workflow are run first: 409 where one fails, or they have not ended in a minute.
         */
        post: operations["post_workflows_id_publish_on_marketplace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/reorder/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Moves a workflow to a position in its project, counted from 1; the others shift. */
        post: operations["post_workflows_id_reorder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/run/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts a run; the body is the input, with a session token `{input_data}`. The outcome is the inner status. */
        post: operations["post_workflows_id_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/schedules/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the schedules of the workflow, oldest first. */
        get: operations["get_workflows_id_schedules"];
        put?: never;
        /**
         * Makes a schedule, which starts runs in the name of the caller.
         * @description Also while the engine is away: it is told as soon as it is back, and what was missed is made up for within `catchup_seconds`. 400 too for an input that the workflow would refuse as it is now.
         */
        post: operations["post_workflows_id_schedules"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/schedules/{schedule_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Deletes a schedule. Runs that it has started go on. */
        delete: operations["delete_workflows_id_schedules_schedule_id"];
        options?: never;
        head?: never;
        /**
         * Changes, pauses or resumes a schedule; what is left out stays as it is.
         * @description Whoever changes the input becomes the author, and so does whoever resumes a schedule whose author has lost access. `********` in a secret field of the input keeps the value.
         */
        patch: operations["patch_workflows_id_schedules_schedule_id"];
        trace?: never;
    };
    "/api/v1/workflows/{id}/test/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Starts a test run: a part of the drawing is executed, and the results of other nodes are taken.
         * @description Results are taken from `mocks`, then from pins, then from the newest run that has the node, and everything before it, as it is now (not with `up_to`). Their entries have `reused` and `source`. A mock is `{content, ...}`, `{error: {code, message}}`, or `{action, values}` of a human task; its key is the id of a node, or `NODE@PATH` for one iteration. A test costs and is limited like any run, and lists leave it out unless they are asked with `purpose=test`.
         */
        post: operations["post_workflows_id_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/tool/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the workflow as MCP clients see it if it is offered as a tool (`is_tool`). */
        get: operations["get_workflows_id_tool"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/unpublish-from-marketplace/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes the workflow off the marketplace; copies stay. */
        post: operations["post_workflows_id_unpublish_from_marketplace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/versions/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the versions of the drawing, newest first: the present one and up to 999 before it. */
        get: operations["get_workflows_id_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/versions/{version}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one version with its drawing as it was last saved, with later changes that made no new version. */
        get: operations["get_workflows_id_versions_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/{id}/versions/{version}/restore/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes the drawing of an earlier version, its secrets included, the present one, as a new version.
         * @description Restoring the present version changes nothing. Restoring one that runs like the present one makes no new version.
         */
        post: operations["post_workflows_id_versions_version_restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/execution-update/{workflow_run_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Applies what a worker reports, once and in order, for internal use. */
        post: operations["post_workflows_execution_update_workflow_run_id"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/get_nodes/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the node kinds with the JSON Schemas of their data and results. */
        get: operations["get_workflows_get_nodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/marketplace/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists published workflows, the last published first. */
        get: operations["get_workflows_marketplace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/marketplace/{slug}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one published workflow. */
        get: operations["get_workflows_marketplace_slug"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/marketplace/{slug}/add-from-marketplace/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Returns the caller's copy and makes it if there is none; its author gets the original. */
        post: operations["post_workflows_marketplace_slug_add_from_marketplace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/marketplace/{slug}/examples/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the newest 50 example runs; long node results are cut and marked `truncated`. */
        get: operations["get_workflows_marketplace_slug_examples"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/marketplace/{slug}/examples/{run_id}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one example run with its whole results. */
        get: operations["get_workflows_marketplace_slug_examples_run_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/mcp-tools/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Lists the tools of an MCP server as the server describes them, all pages joined. */
        post: operations["post_workflows_mcp_tools"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/workflow_result/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns the state of a run and the results of its nodes so far.
         * @description With `If-None-Match` and the `ETag` of an earlier answer, 304 while nothing has changed, which does not count against the rate limit. With `Prefer: wait=N` (1 to 55 seconds) the answer comes as soon as the run has ended, or, with a current `If-None-Match`, as soon as anything has changed; after N seconds as without it.
         */
        get: operations["get_workflows_workflow_result"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/workflow_result/events/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Streams the run as it happens, as server-sent events.
         * @description Events `node` (an entry as in the poll, with its `path`), `approval` (a request, at first and whenever its status changes) and `run` (`{status, version}`). `id` is the version of the run after the event, and rises from event to event. The stream begins with what has happened so far, or behind the event that `Last-Event-ID` names. It ends after the `run` event with the status `succeed` or `failed`; a stream that ends before is resumed with `Last-Event-ID`. A comment is sent every 15 seconds. A run that is not found is answered as in the poll, in JSON.
         */
        get: operations["get_workflows_workflow_result_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/workflow_run/{workflow_run_id}/agent-approval/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the approval requests of a run, oldest first. */
        get: operations["get_workflows_workflow_run_workflow_run_id_agent_approval"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/workflow_run/{workflow_run_id}/agent-approval/{request_id}/approve/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answers an agent's request: the tool call is approved. The outcome is the inner status (200, 404, 409).
         * @description While `decision` is `pending`, more people must approve the same arguments. `arguments` must fit the schema of the tool; approvals of earlier arguments do not count for them.
         */
        post: operations["post_workflows_workflow_run_workflow_run_id_agent_approval_request_id_approve"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workflows/workflow_run/{workflow_run_id}/agent-approval/{request_id}/reject/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answers an agent's request: the tool call is rejected. The outcome is the inner status (200, 404, 409).
         * @description One rejection settles the request, however many have approved it.
         */
        post: operations["post_workflows_workflow_run_workflow_run_id_agent_approval_request_id_reject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the page on which to read this interface and try it. */
        get: operations["get_docs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/{file}/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns a script, style or picture of the page. */
        get: operations["get_docs_file"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Answers while the process is alive. */
        get: operations["get_healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Streams the rest of the answer to a tool call, for a client that has lost its connection.
         * @description `Last-Event-ID` names the last event that was received. Without it 405: the server sends nothing that no call asked for.
         */
        get: operations["get_mcp"];
        put?: never;
        /**
         * Takes a message of an MCP client, to which workflows are offered as tools.
         * @description Streamable HTTP of the Model Context Protocol, with the API key as a bearer token. `tools/list` has every workflow with `is_tool` that the user of the key may run. `tools/call` runs one: the answer is a stream of events, which ends with the result; with `task` (from 2025-11-25 on) it is answered at once, and `tasks/get`, `tasks/result`, `tasks/list` and `tasks/cancel` take the id of the run. A notification is answered with 202. 404: the session is not one of this key; begin another one.
         */
        post: operations["post_mcp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/build/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Takes a message of an MCP client that builds workflows.
         * @description Streamable HTTP of the Model Context Protocol, with an API key as a bearer token; keys of the scope `run` are refused, those of `read` have the tools that change nothing. The tools do what the routes do, with the rights of the user: they read and change the user's draft, check it, test it and save it.
         */
        post: operations["post_mcp_build"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns Prometheus metrics of this process and figures of the whole service; not here if METRICS_PORT is set. */
        get: operations["get_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Answers 200 while the database and Temporal answer, no migration is missing and the store of files has answered once, else 503; names each of them, unless METRICS_PORT is set. */
        get: operations["get_readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chat/completions/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Passes a chat completion to the provider of its model and the answer back, both unchanged, or runs the workflow that the model names.
         * @description Works with any client of the protocol: base address `{base_url}/v1`, the API key as its key. `stream: true` is passed through as it arrives. With `X-Project-Id`, a project where the caller may run workflows, that project's own key for the provider is used where it has one; a key that is restricted to a project names it without the header, and no other. The call is a transaction of that project, or of none, and a 402 with the code `budget_exceeded` where it could pass the limit of the project. The answer takes at most 60 seconds; a stream at most 60 seconds to its first byte and between any two. The model `workflow:ID` is a workflow with `is_chat` that the caller may run: its run gets `message`, `messages` and `files`, and what it puts out is the answer, whose `id` is the run. Whoever hangs up cancels the run. 400: it does not take the messages. 402 `budget_exceeded`: a limit of money has stopped the run. 500: the run failed, with the code of the node. 504: it took more than 600 seconds, and was cancelled. Failures of a run carry `x-should-retry: false`; those of a stream are its last event.
         */
        post: operations["post_v1_chat_completions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the models that the operator has configured, and the workflows with `is_chat` that the caller may run, in the shape of the chat-completion protocol.
         * @description A provider that serves any model (`*`) adds none: the list is then not complete.
         */
        get: operations["get_v1_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Action: {
            description: string;
            documentation_url: string | null;
            /** @description A JSON Schema of an object. Each property says in `x-in` where its value goes: `path`, `query`, `header`, `body` */
            fields: {
                [key: string]: unknown;
            };
            has_side_effects: boolean;
            id: string;
            method: string;
            path: string;
            /** @description The JSON Schema of the success answer */
            result: {
                [key: string]: unknown;
            } | null;
            /** @description The address that the path follows; a name in braces is taken from the origin of the connection */
            server: string;
            title: string;
        };
        /** @description ISO 4217 code -> plain decimal. */
        Amount: {
            [key: string]: string;
        };
        Assistant: {
            /** @description Null before the first one, and after it was deleted */
            conversation: string | null;
            /** @description Of all answers of the conversation, with the tests that they have asked for */
            cost: components["schemas"]["Amount"];
            model: string | null;
            /** @description The run of the newest answer */
            run: string | null;
        };
        BadRequest: components["schemas"]["Error"] | {
            [key: string]: string[];
        };
        Case: {
            /** Format: date-time */
            created_at: string;
            expect: {
                node?: string;
                /** @enum {string} */
                operator: "==" | "!=" | ">" | "<" | ">=" | "<=" | "contains" | "not_contains" | "starts_with" | "ends_with" | "matches" | "in" | "is_empty" | "is_not_empty";
                /** @constant */
                output?: true;
                /** @description What would follow `node.` in a variable; of the output, what follows in it */
                path: string;
                right?: string | number | boolean;
            }[];
            id: number;
            /** @description Secrets are ******** */
            input: {
                [key: string]: unknown;
            };
            mocks: {
                [key: string]: unknown;
            };
            name: string;
            required: boolean;
            /** Format: date-time */
            updated_at: string;
        };
        CaseRun: {
            cases: {
                case_id: number;
                error?: {
                    code: string;
                    message: string;
                };
                failures: {
                    actual: unknown;
                    expectation: {
                        node?: string;
                        /** @enum {string} */
                        operator: "==" | "!=" | ">" | "<" | ">=" | "<=" | "contains" | "not_contains" | "starts_with" | "ends_with" | "matches" | "in" | "is_empty" | "is_not_empty";
                        /** @constant */
                        output?: true;
                        /** @description What would follow `node.` in a variable; of the output, what follows in it */
                        path: string;
                        right?: string | number | boolean;
                    };
                }[];
                run_id: string | null;
                /** @enum {string} */
                status: "in progress" | "passed" | "failed" | "error";
            }[];
            cost: components["schemas"]["Amount"];
            /** Format: date-time */
            created_at: string;
            failed: number;
            finished_at: string | null;
            id: string;
            passed: number;
            /** @enum {string} */
            status: "in progress" | "passed" | "failed";
        };
        ChatError: {
            error: {
                code: string | null;
                message: string;
                param: string | null;
                type: string;
            };
        };
        Connection: {
            /** @description Who has signed in, where the provider tells it */
            account: string | null;
            /** @description When the access token expires; it is renewed before */
            expires_at: string | null;
            id: number;
            /** @enum {string} */
            kind: "header" | "query" | "path" | "basic" | "bearer" | "oauth2_client_credentials" | "oauth2" | "mcp_oauth";
            last_used_at: string | null;
            name: string;
            /** @description The credential goes to these and to no other */
            origins: string[];
            /** @description By the kind, each ******** */
            secrets: {
                [key: string]: unknown;
            };
            /** @description By the kind; no secrets */
            settings: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            status: "ready" | "needs_authorization" | "failing";
            status_reason: string | null;
            /** @description How many workflows name it */
            used_by: number;
        };
        Conversation: {
            author: number;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            id: string;
            /** @description The trigger's other fields for each message, secrets masked. Null: their key was withdrawn */
            inputs: unknown;
            /** @description Where none was given, the beginning of the first message */
            title: string;
            /** @description The author's name for an end user */
            user: string | null;
            workflow: number;
        };
        Draft: {
            /** @description The run of the assistant in the editor that has written it last; null if the caller has */
            assistant_run: string | null;
            /** @description The version of the drawing from which it began */
            base_version: number;
            /** @description Secrets are ******** */
            data: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            updated_at: string;
        };
        Error: {
            code: string;
            detail: string;
        };
        File: {
            /** Format: uuid */
            file_id: string;
            name: string;
            sha256: string;
            /** @description In bytes */
            size: number;
            /** @description The media type, as it was declared */
            type: string;
        };
        FileFacts: {
            /** Format: date-time */
            created_at: string;
            /** @description Null while something refers to the file */
            expires_at: string | null;
            /** Format: uuid */
            file_id: string;
            name: string;
            sha256: string;
            /** @description In bytes */
            size: number;
            /** @description The media type, as it was declared */
            type: string;
            used_by: {
                cases: number;
                drawings: number;
                messages: number;
                pins: number;
                runs: number;
                schedules: number;
            };
        };
        InvalidDrawing: {
            code: string;
            data: {
                data: {
                    [key: string]: components["schemas"]["NodeResult"];
                } | null;
                detail?: string;
                errors?: {
                    code: string;
                    message: string;
                    node_id?: string;
                }[];
                id: string | null;
                /** @description The value of the first output node that has ended, any JSON; absent until then. It never changes */
                output?: unknown;
                /** @enum {string} */
                status: "in queue" | "in progress" | "succeed" | "failed" | "not found";
                /** @description Rises with every change of the run, though not by one. The `ETag` of a poll changes with it */
                version?: number;
            };
            detail: string;
            errors: {
                message: string;
                node_id: string | null;
                path: string;
            }[];
            status: number;
        };
        Message: {
            /** @description Null for the answer of a run that has not succeeded */
            content: string | null;
            /** @description What the run has cost with the runs below it; null for messages of people */
            cost: components["schemas"]["Amount"] | null;
            /** Format: date-time */
            created_at: string;
            /** @description Why the run failed; null for messages of people */
            error: {
                code: string;
                message: string;
            } | null;
            files: {
                /** @constant */
                deleted?: true;
                /** Format: uuid */
                file_id: string;
                name: string;
                sha256: string;
                /** @description In bytes */
                size: number;
                /** @description The media type, as it was declared */
                type: string;
            }[];
            /** Format: uuid */
            id: string;
            /** @description The message in whose place this one was asked */
            replaces: string | null;
            /** @enum {string} */
            role: "user" | "assistant";
            /** Format: uuid */
            run_id: string;
            /**
             * @description The status of the run
             * @enum {string}
             */
            status: "in queue" | "in progress" | "succeed" | "failed" | "cancelled";
            /**
             * @description The content is cut; the run has the whole
             * @constant
             */
            truncated?: true;
        };
        NodeResult: {
            approval_requests?: {
                [key: string]: unknown;
            }[];
            error?: {
                code: string;
                message: string;
            };
            /** @description Null until the node has ended */
            finished_at?: string | null;
            /**
             * @description The node failed, and the run survived it (`on_error`)
             * @constant
             */
            handled?: true;
            id: string;
            /** @description Of a loop: how many iterations there are, of a conditional loop so far */
            iterations?: {
                failed: number;
                in_progress: number;
                succeeded: number;
                total: number;
            };
            /**
             * @description The result is that of a mock
             * @constant
             */
            mocked?: true;
            result?: unknown;
            /**
             * @description The result was taken over: nothing was executed, and nothing paid
             * @constant
             */
            reused?: true;
            /** @description What a test has taken the result from: `mock`, `pin`, or the id of a run */
            source?: string;
            /**
             * @description The node of the pin, or something before it, has changed since
             * @constant
             */
            stale?: true;
            /** @description Null where the start is not stored yet */
            started_at?: string | null;
            /** @enum {string} */
            status: "in queue" | "in progress" | "succeed" | "failed" | "not found";
            truncated?: boolean;
            /** @description What a node that is in progress waits for, and until when at the latest */
            waiting?: {
                /**
                 * Format: uri
                 * @description Of a callback, for who may run the workflow: the address that takes it
                 */
                callback_url?: string;
                /** @description For which somebody has to sign in */
                connection_id?: number;
                /** @enum {string} */
                for: "approval" | "callback" | "child" | "connection" | "human" | "time" | "worker";
                /** @description Of a wait for a worker: the pool that has none */
                pool?: string;
                /** @description Of a sub-workflow: its run */
                run_id?: string;
                /** @description Of a human task */
                task_id?: string;
                /**
                 * Format: date-time
                 * @description Absent for a wait for a worker
                 */
                until?: string;
            };
        };
        Pin: {
            error: {
                code: string;
                message: string;
            } | null;
            /** @description Whether the node, or something before it, has changed since */
            is_stale: boolean;
            node_id: string;
            path: string;
            result: {
                [key: string]: unknown;
            } | null;
            source_run: string | null;
            /** Format: date-time */
            updated_at: string;
            updated_by: {
                id: number;
                name: string;
            };
        };
        Project: {
            attached_provider_keys: {
                /** Format: date-time */
                created_at: string;
                id: number;
                masked_key: string;
                name: string;
                provider: string;
            }[];
            can_edit: boolean;
            /** Format: date-time */
            created_at: string;
            id: number;
            is_webhook_enabled: boolean;
            name: string;
            /** @description The pool of workers that executes its nodes; null is `default` */
            pool: string | null;
            /** @description The other pools that its nodes may name */
            pools: string[];
            role: components["schemas"]["Role"];
            spending_limit: {
                /** @description USD, a plain decimal */
                amount: string;
                /**
                 * @description Days and months begin at midnight UTC
                 * @enum {string}
                 */
                period: "day" | "month" | "total";
            } | null;
            spent_in_period: components["schemas"]["Amount"];
            /** @description All that the project stores, files included; at most 10 seconds old */
            stored_bytes: number;
            total_spent: components["schemas"]["Amount"];
            /** Format: date-time */
            updated_at: string;
            webhook_url: string;
        };
        ProjectPools: {
            id: number;
            name: string;
            /** @description The pool of workers that executes its nodes; null is `default` */
            pool: string | null;
            /** @description The other pools that its nodes may name */
            pools: string[];
        };
        /** @enum {string} */
        Role: "owner" | "admin" | "editor" | "viewer";
        Run: {
            /** @description The nodes of which one writes the answer of a chat (`settings.answer_node`); not in lists */
            answer_nodes?: string[];
            cost: components["schemas"]["Amount"];
            /** Format: date-time */
            created_at: string;
            data: {
                [key: string]: unknown;
            };
            duration: number | null;
            error: {
                code: string;
                message: string;
            } | null;
            id: string;
            input_data: unknown;
            input_fields: {
                [key: string]: unknown;
            }[];
            is_api_run: boolean;
            /** @description The node that has started it */
            parent_node_id: string | null;
            /** @description The iteration of that node; empty outside loops */
            parent_path: string | null;
            /** @description Of the run of a sub-workflow: the run that has started it */
            parent_run_id: string | null;
            /** @enum {string} */
            purpose: "run" | "test" | "assistant";
            result: {
                [key: string]: components["schemas"]["NodeResult"];
            };
            /**
             * Format: date-time
             * @description Since then the contents of the results are gone
             */
            results_expired_at?: string;
            /** @description The earlier run whose results it began with (resume) */
            resumed_from: string | null;
            run_finished_at: string | null;
            run_started_at: string | null;
            /** @enum {string} */
            status: "In Progress" | "Succeeded" | "Cancelled" | "Error" | "Draft";
            /**
             * Format: uri
             * @description The run in the Temporal UI, for operators; only where they have set its address
             */
            temporal_url?: string;
            /** @description With the runs of its sub-workflows, and theirs */
            total_cost: components["schemas"]["Amount"];
            /** Format: date-time */
            updated_at: string;
            use_as_marketplace_template: boolean;
            use_in_marketplace_example: boolean;
            /** @description What an open run waits for while nothing of it is in flight: the first of these. The pause between two attempts is `time`. `worker`: no worker serves the pool of its nodes now */
            waiting_for: ("approval" | "human" | "connection" | "callback" | "time" | "child" | "worker") | null;
            /** @description The version of the drawing that it was started with; null for the test of a drawing that is not stored */
            workflow_version: number | null;
        };
        RunEnvelope: {
            data: {
                data: {
                    [key: string]: components["schemas"]["NodeResult"];
                } | null;
                detail?: string;
                errors?: {
                    code: string;
                    message: string;
                    node_id?: string;
                }[];
                id: string | null;
                /** @description The value of the first output node that has ended, any JSON; absent until then. It never changes */
                output?: unknown;
                /** @enum {string} */
                status: "in queue" | "in progress" | "succeed" | "failed" | "not found";
                /** @description Rises with every change of the run, though not by one. The `ETag` of a poll changes with it */
                version?: number;
            };
            status: number;
        };
        Service: {
            action_count: number;
            /** @description The kinds of connections that the service accepts */
            connection_kinds: string[];
            description: string;
            documentation_url: string | null;
            id: string;
            name: string;
            /** @enum {string} */
            source: "catalogue" | "project";
            version: string;
        };
        StoredService: {
            action_count: number;
            /** @description The kinds of connections that the service accepts */
            connection_kinds: string[];
            description: string;
            documentation_url: string | null;
            id: string;
            name: string;
            /** @enum {string} */
            source: "catalogue" | "project";
            version: string;
            /** @description Operations that cannot be called, or not as the document says: by id, or by method and path */
            warnings: {
                message: string;
                operation: string;
            }[];
        };
        Workflow: {
            author: number;
            available_languages: string[];
            can_edit: boolean;
            categories: number[];
            copied_from: number | null;
            /** Format: date-time */
            created_at: string;
            data: {
                [key: string]: unknown;
            };
            free_runs_per_user: number;
            id: number;
            /** @description Whether it has conversations, and is a model of `/v1/chat/completions` */
            is_chat: boolean;
            is_published: boolean;
            /** @description Whether `/mcp` offers it as a tool to everybody who may run it */
            is_tool: boolean;
            market_title: string;
            /** @description USD, of a run with the runs below it; null: no limit */
            max_run_cost: string | null;
            project: number;
            readme_guide: string;
            role: components["schemas"]["Role"];
            run_fee: string;
            short_description: string;
            slug: string | null;
            sort_id: number;
            subcategories: number[];
            /** @description At most 10, in the order in which they were given */
            tags: string[];
            title: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Of the drawing, from 1; rises with each change of what it runs */
            version: number;
        };
        WorkflowCheck: {
            data: {
                data: {
                    [key: string]: components["schemas"]["NodeResult"];
                } | null;
                detail?: string;
                errors?: {
                    code: string;
                    message: string;
                    node_id?: string;
                }[];
                id: string | null;
                /** @description The value of the first output node that has ended, any JSON; absent until then. It never changes */
                output?: unknown;
                /** @enum {string} */
                status: "in queue" | "in progress" | "succeed" | "failed" | "not found";
                /** @description Rises with every change of the run, though not by one. The `ETag` of a poll changes with it */
                version?: number;
            };
            /** @description The nodes whose words a chat is told where `settings.answer_node` names none; each on a way of its own */
            default_answer_nodes?: string[];
            errors: {
                message: string;
                node_id: string | null;
                path: string;
            }[];
            is_valid: boolean;
            status: number;
            warnings: {
                code: string;
                message: string;
                node_id: string | null;
                /** @description The field in the data of the node, where the warning is about one */
                path?: string;
            }[];
        };
    };
    responses: {
        /** @description What `ServiceError` reads. */
        BadRequestOrError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["BadRequest"] | components["schemas"]["Error"];
            };
        };
        /** @description What `ServiceError` reads. */
        ChatErrorOrError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ChatError"] | components["schemas"]["Error"];
            };
        };
        /** @description What `ServiceError` reads. */
        Error: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    get_agent_approvals: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
                status?: "pending" | "approved" | "rejected" | "expired" | "decided";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description What the model asks for, secrets masked; null once it has expired */
                            arguments: unknown;
                            /** @description SHA-256 of exactly what the tool would get, in hexadecimal (docs/use/approvers.md) */
                            arguments_hash: string;
                            /** Format: date-time */
                            created_at: string;
                            decided_at: string | null;
                            /** @description Whose decision has settled the request; null while none has */
                            decided_by: {
                                id: number;
                                name: string;
                            } | null;
                            /** @description Who has decided so far, in their order */
                            decisions: {
                                /** @description Of the arguments that were decided on; approvals of others do not count */
                                arguments_hash: string;
                                /** Format: date-time */
                                decided_at: string;
                                decided_by: {
                                    id: number;
                                    name: string;
                                };
                                /** @enum {string} */
                                decision: "approved" | "rejected";
                                reason: string;
                            }[];
                            /** @description What a person has put in the place of `arguments`, and the tool would get; null where nobody has */
                            edited_arguments: unknown;
                            /** @description Whether `requested_by` may not decide */
                            exclude_starter: boolean;
                            /** Format: date-time */
                            expires_at: string;
                            node_id: string;
                            node_label: string;
                            /** @description The iteration that encloses the node, such as `LOOP[3]/INNER[0]`; empty outside loops */
                            path: string;
                            project: {
                                id: number;
                                name: string;
                            };
                            project_id: number;
                            /** @enum {string} */
                            purpose: "run" | "test" | "assistant";
                            reason: string;
                            request_id: string;
                            /** @description Who started the run */
                            requested_by: {
                                id: number;
                                name: string;
                            };
                            /** @description How many different people must approve */
                            required: number;
                            /** @description Who may decide; null for all three */
                            roles: ("editor" | "admin" | "owner")[] | null;
                            run_id: string;
                            /** @description Empty where the tool is a workflow */
                            server_label: string;
                            /** @enum {string} */
                            status: "pending" | "approved" | "rejected" | "expired";
                            tool_name: string;
                            workflow: {
                                id: number;
                                title: string;
                            };
                            workflow_id: number;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_agent_approvals_request_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                request_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What the model asks for, secrets masked; null once it has expired */
                        arguments: unknown;
                        /** @description SHA-256 of exactly what the tool would get, in hexadecimal (docs/use/approvers.md) */
                        arguments_hash: string;
                        /** Format: date-time */
                        created_at: string;
                        decided_at: string | null;
                        /** @description Whose decision has settled the request; null while none has */
                        decided_by: {
                            id: number;
                            name: string;
                        } | null;
                        /** @description Who has decided so far, in their order */
                        decisions: {
                            /** @description Of the arguments that were decided on; approvals of others do not count */
                            arguments_hash: string;
                            /** Format: date-time */
                            decided_at: string;
                            decided_by: {
                                id: number;
                                name: string;
                            };
                            /** @enum {string} */
                            decision: "approved" | "rejected";
                            reason: string;
                        }[];
                        /** @description What a person has put in the place of `arguments`, and the tool would get; null where nobody has */
                        edited_arguments: unknown;
                        /** @description Whether `requested_by` may not decide */
                        exclude_starter: boolean;
                        /** Format: date-time */
                        expires_at: string;
                        node_id: string;
                        node_label: string;
                        /** @description The iteration that encloses the node, such as `LOOP[3]/INNER[0]`; empty outside loops */
                        path: string;
                        project: {
                            id: number;
                            name: string;
                        };
                        project_id: number;
                        /** @enum {string} */
                        purpose: "run" | "test" | "assistant";
                        reason: string;
                        request_id: string;
                        /** @description Who started the run */
                        requested_by: {
                            id: number;
                            name: string;
                        };
                        /** @description How many different people must approve */
                        required: number;
                        /** @description Who may decide; null for all three */
                        roles: ("editor" | "admin" | "owner")[] | null;
                        run_id: string;
                        /** @description Empty where the tool is a workflow */
                        server_label: string;
                        /** @enum {string} */
                        status: "pending" | "approved" | "rejected" | "expired";
                        tool_name: string;
                        workflow: {
                            id: number;
                            title: string;
                        };
                        workflow_id: number;
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_all_workflows: {
        parameters: {
            query?: {
                categories?: number[];
                /** @description Adds `latest_runs` to each workflow */
                include?: "latest_runs";
                languages?: string;
                ordering?: "last_run_at" | "-last_run_at" | "total_cost" | "-total_cost" | "created_at" | "-created_at";
                own_scripts?: boolean;
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                project?: number;
                search?: string;
                /** @description Above 100 it counts as 100. */
                size?: number;
                subcategories?: number[];
                /** @description May be repeated: workflows that have all of them */
                tag?: string[];
                title__icontains?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            author: number;
                            available_languages: string[];
                            /** @description Seconds; null when no run has finished. */
                            average_run_duration: number | null;
                            can_edit: boolean;
                            categories: number[];
                            copied_from: number | null;
                            /** Format: date-time */
                            created_at: string;
                            /** @description Absent where it is too large for a list; the single read has it */
                            data?: {
                                [key: string]: unknown;
                            };
                            free_runs_per_user: number;
                            id: number;
                            is_bookmarked: boolean;
                            /** @description Whether it has conversations, and is a model of `/v1/chat/completions` */
                            is_chat: boolean;
                            is_published: boolean;
                            /** @description Whether `/mcp` offers it as a tool to everybody who may run it */
                            is_tool: boolean;
                            last_run_at: string | null;
                            /** @description Null when the workflow has never run. */
                            last_run_cost: components["schemas"]["Amount"] | null;
                            /** @description With `include=latest_runs`: the statuses of the last 20 runs, newest first */
                            latest_runs?: ("In Progress" | "Succeeded" | "Cancelled" | "Error" | "Draft")[];
                            market_title: string;
                            /** @description USD, of a run with the runs below it; null: no limit */
                            max_run_cost: string | null;
                            project: number;
                            readme_guide: string;
                            role: components["schemas"]["Role"];
                            run_fee: string;
                            short_description: string;
                            slug: string | null;
                            sort_id: number;
                            subcategories: number[];
                            /** @description At most 10, in the order in which they were given */
                            tags: string[];
                            title: string;
                            total_cost: components["schemas"]["Amount"];
                            /**
                             * @description data is left out
                             * @constant
                             */
                            truncated?: true;
                            /** Format: date-time */
                            updated_at: string;
                            /** @description Of the drawing, from 1; rises with each change of what it runs */
                            version: number;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_all_workflows_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        author: number;
                        available_languages: string[];
                        /** @description Seconds; null when no run has finished. */
                        average_run_duration: number | null;
                        can_edit: boolean;
                        categories: number[];
                        copied_from: number | null;
                        /** Format: date-time */
                        created_at: string;
                        data: {
                            [key: string]: unknown;
                        };
                        free_runs_per_user: number;
                        id: number;
                        is_bookmarked: boolean;
                        /** @description Whether it has conversations, and is a model of `/v1/chat/completions` */
                        is_chat: boolean;
                        is_published: boolean;
                        /** @description Whether `/mcp` offers it as a tool to everybody who may run it */
                        is_tool: boolean;
                        last_run_at: string | null;
                        /** @description Null when the workflow has never run. */
                        last_run_cost: components["schemas"]["Amount"] | null;
                        market_title: string;
                        /** @description USD, of a run with the runs below it; null: no limit */
                        max_run_cost: string | null;
                        project: number;
                        readme_guide: string;
                        role: components["schemas"]["Role"];
                        run_fee: string;
                        short_description: string;
                        slug: string | null;
                        sort_id: number;
                        subcategories: number[];
                        /** @description At most 10, in the order in which they were given */
                        tags: string[];
                        title: string;
                        total_cost: components["schemas"]["Amount"];
                        /** Format: date-time */
                        updated_at: string;
                        /** @description Of the drawing, from 1; rises with each change of what it runs */
                        version: number;
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    post_all_workflows_id_add_bookmark: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    delete_all_workflows_id_delete_bookmark: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    get_api_keys: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
                user?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** Format: date-time */
                            created_at: string;
                            /** @description From then on the key is unknown (401); null: never. */
                            expires_at: string | null;
                            /** @description The last four characters of the key. */
                            hint: string;
                            id: number;
                            label: string;
                            /** @description The only project that the key reaches; null: all of its user. */
                            project: number | null;
                            /** @description Requests a minute; null: the default. */
                            rate_limit: number | null;
                            /**
                             * @description `run`: run workflows and answer what runs ask; `read`: GET, and tools of `/mcp/build` that change nothing; else 403 `key_scope`.
                             * @enum {string}
                             */
                            scope: "full" | "run" | "read";
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_api_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    expires_at?: string | null;
                    label?: string;
                    project?: number | null;
                    rate_limit?: number | null;
                    /** @enum {string} */
                    scope?: "full" | "run" | "read";
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The key itself, shown only here. */
                        api_key: string;
                        /** Format: date-time */
                        created_at: string;
                        /** @description From then on the key is unknown (401); null: never. */
                        expires_at: string | null;
                        /** @description The last four characters of the key. */
                        hint: string;
                        id: number;
                        label: string;
                        /** @description The only project that the key reaches; null: all of its user. */
                        project: number | null;
                        /** @description Requests a minute; null: the default. */
                        rate_limit: number | null;
                        /**
                         * @description `run`: run workflows and answer what runs ask; `read`: GET, and tools of `/mcp/build` that change nothing; else 403 `key_scope`.
                         * @enum {string}
                         */
                        scope: "full" | "run" | "read";
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    delete_api_keys_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    patch_api_keys_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    expires_at?: string | null;
                    label?: string;
                    project?: number | null;
                    rate_limit?: number | null;
                    /** @enum {string} */
                    scope?: "full" | "run" | "read";
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date-time */
                        created_at: string;
                        /** @description From then on the key is unknown (401); null: never. */
                        expires_at: string | null;
                        /** @description The last four characters of the key. */
                        hint: string;
                        id: number;
                        label: string;
                        /** @description The only project that the key reaches; null: all of its user. */
                        project: number | null;
                        /** @description Requests a minute; null: the default. */
                        rate_limit: number | null;
                        /**
                         * @description `run`: run workflows and answer what runs ask; `read`: GET, and tools of `/mcp/build` that change nothing; else 403 `key_scope`.
                         * @enum {string}
                         */
                        scope: "full" | "run" | "read";
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_audit: {
        parameters: {
            query?: {
                action?: "approval.approved" | "approval.rejected" | "callback.accepted" | "case.created" | "case.changed" | "case.deleted" | "case_run.cancelled" | "category.created" | "category.deleted" | "chat.called" | "connection.created" | "connection.changed" | "connection.deleted" | "connection.authorized" | "connection.used" | "conversation.created" | "conversation.changed" | "conversation.deleted" | "file.uploaded" | "file.deleted" | "file_link.created" | "hook.created" | "hook.changed" | "hook.deleted" | "hook.refused" | "human_task.answered" | "key.created" | "key.changed" | "key.deleted" | "login.succeeded" | "login.refused" | "member.added" | "member.changed" | "member.removed" | "mcp_tools.listed" | "password.changed" | "password_link.created" | "pin.changed" | "pin.deleted" | "project.created" | "project.changed" | "project.deleted" | "provider_key.added" | "provider_key.removed" | "run.cancelled" | "run.flagged" | "run.reported" | "run.started" | "schedule.created" | "schedule.changed" | "schedule.deleted" | "schedule.paused" | "secrets.reencrypted" | "service.created" | "service.changed" | "service.deleted" | "session.ended" | "session.refreshed" | "sign_in_link.created" | "signals.resent" | "token.issued" | "tool.called" | "user.created" | "user.changed" | "webhook_delivery.sent_again" | "webhook_secret.renewed" | "workflow.bookmarked" | "workflow.created" | "workflow.changed" | "workflow.checked" | "workflow.copied" | "workflow.deleted" | "workflow.drafted" | "workflow.duplicated" | "workflow.estimated" | "workflow.imported" | "workflow.moved" | "workflow.published" | "workflow.restored" | "workflow.unpublished";
                /** @description ISO 8601 with its offset; a day without a time is the whole UTC day */
                from?: string | unknown | unknown;
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
                /** @description ISO 8601 with its offset; a day without a time is the whole UTC day */
                to?: string | unknown | unknown;
                user?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @enum {string} */
                            action: "approval.approved" | "approval.rejected" | "callback.accepted" | "case.created" | "case.changed" | "case.deleted" | "case_run.cancelled" | "category.created" | "category.deleted" | "chat.called" | "connection.created" | "connection.changed" | "connection.deleted" | "connection.authorized" | "connection.used" | "conversation.created" | "conversation.changed" | "conversation.deleted" | "file.uploaded" | "file.deleted" | "file_link.created" | "hook.created" | "hook.changed" | "hook.deleted" | "hook.refused" | "human_task.answered" | "key.created" | "key.changed" | "key.deleted" | "login.succeeded" | "login.refused" | "member.added" | "member.changed" | "member.removed" | "mcp_tools.listed" | "password.changed" | "password_link.created" | "pin.changed" | "pin.deleted" | "project.created" | "project.changed" | "project.deleted" | "provider_key.added" | "provider_key.removed" | "run.cancelled" | "run.flagged" | "run.reported" | "run.started" | "schedule.created" | "schedule.changed" | "schedule.deleted" | "schedule.paused" | "secrets.reencrypted" | "service.created" | "service.changed" | "service.deleted" | "session.ended" | "session.refreshed" | "sign_in_link.created" | "signals.resent" | "token.issued" | "tool.called" | "user.created" | "user.changed" | "webhook_delivery.sent_again" | "webhook_secret.renewed" | "workflow.bookmarked" | "workflow.created" | "workflow.changed" | "workflow.checked" | "workflow.copied" | "workflow.deleted" | "workflow.drafted" | "workflow.duplicated" | "workflow.estimated" | "workflow.imported" | "workflow.moved" | "workflow.published" | "workflow.restored" | "workflow.unpublished";
                            /** @description With the name of that time; null where nobody is known, or the service itself has done it */
                            actor: {
                                id: number;
                                name: string;
                            } | null;
                            /** @description Of the client */
                            address: string | null;
                            /** Format: date-time */
                            at: string;
                            /** @description `{field: [before, after]}`, secrets as ********, of a drawing its versions; long texts are cut */
                            changes: {
                                [key: string]: [
                                    unknown,
                                    unknown
                                ];
                            };
                            /** @description Of `mcp`: the name of the assistant, as it has given it */
                            client: string | null;
                            /** @description How many refusals the record stands for */
                            count: number;
                            /** @description SHA-256 in hexadecimal digits; null until the record is chained, 10 seconds at most */
                            hash: string | null;
                            id: number;
                            key_id: number | null;
                            /** @enum {string} */
                            outcome: "success" | "refused";
                            /** @description Null: it belongs to no project */
                            project: number | null;
                            target: {
                                id: number | string;
                                name: string;
                                type: string;
                            } | null;
                            /** @enum {string} */
                            via: "session" | "key" | "link" | "hook" | "callback" | "schedule" | "mcp" | "system";
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_auth_link: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    token: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description For `Authorization: Bearer`; it ends with its session, too */
                        access_token: string;
                        /** @description Seconds, at most 3600 */
                        expires_in: number;
                        /** @constant */
                        token_type: "Bearer";
                        user: {
                            api_access: boolean;
                            email: string | null;
                            id: number;
                            is_admin: boolean;
                            name: string;
                        };
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_auth_login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    email: string;
                    password: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description For `Authorization: Bearer`; it ends with its session, too */
                        access_token: string;
                        /** @description Seconds, at most 3600 */
                        expires_in: number;
                        /** @constant */
                        token_type: "Bearer";
                        user: {
                            api_access: boolean;
                            email: string | null;
                            id: number;
                            is_admin: boolean;
                            name: string;
                        };
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_auth_logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    get_auth_oidc: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Go to the address in `Location`. */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Done; go to the address in `Location`. */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    get_auth_oidc_callback: {
        parameters: {
            query?: {
                code?: string;
                error?: string;
                error_description?: string;
                iss?: string;
                state?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; go to the address in `Location`. */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_auth_password: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    current_password: string;
                    new_password: string;
                };
            };
        };
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_auth_password_reset: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    new_password: string;
                    token: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description For `Authorization: Bearer`; it ends with its session, too */
                        access_token: string;
                        /** @description Seconds, at most 3600 */
                        expires_in: number;
                        /** @constant */
                        token_type: "Bearer";
                        user: {
                            api_access: boolean;
                            email: string | null;
                            id: number;
                            is_admin: boolean;
                            name: string;
                        };
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_auth_providers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        name: string;
                        /** Format: uri */
                        url: string;
                    }[];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    post_auth_refresh: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description For `Authorization: Bearer`; it ends with its session, too */
                        access_token: string;
                        /** @description Seconds, at most 3600 */
                        expires_in: number;
                        /** @constant */
                        token_type: "Bearer";
                        user: {
                            api_access: boolean;
                            email: string | null;
                            id: number;
                            is_admin: boolean;
                            name: string;
                        };
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_auth_sessions: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** Format: date-time */
                            created_at: string;
                            /** Format: date-time */
                            expires_at: string;
                            /** Format: uuid */
                            id: string;
                            /** @description Whether the request belongs to it */
                            is_current: boolean;
                            /**
                             * Format: date-time
                             * @description The sign-in or the last refresh
                             */
                            last_used_at: string;
                            /**
                             * @description How the user signed in
                             * @enum {string}
                             */
                            method: "password" | "link" | "oidc";
                            /** @description Where it was used last: an IPv4 address, or the /64 of an IPv6 address */
                            network: string;
                            /** @description As the browser calls itself, cut to 255 characters */
                            user_agent: string;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    delete_auth_sessions_session_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    get_billing_history_chat: {
        parameters: {
            query?: {
                page?: number;
                page_size?: number;
                project?: number;
                size?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            amount: components["schemas"]["Amount"];
                            /** Format: date-time */
                            created_at: string;
                            description: string;
                            id: string;
                            input_tokens: number;
                            /** @description Nobody has reported the tokens: they were reckoned from the number of characters */
                            is_estimated: boolean;
                            model: string;
                            operation: string;
                            output_tokens: number;
                            /** @description The iteration that encloses the node, such as `LOOP[3]/INNER[0]`; empty outside loops */
                            path: string;
                            /** @description Null for a call that belongs to no project */
                            project: number | null;
                            provider: string;
                            reason: string;
                            run_id: null;
                            /** @enum {string} */
                            status: "Succeeded" | "Error";
                            /** Format: date-time */
                            updated_at: string;
                            user_id: number;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_billing_history_workflowrun_run_id: {
        parameters: {
            query?: {
                page?: number;
                page_size?: number;
                size?: number;
            };
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            amount: components["schemas"]["Amount"];
                            /** Format: date-time */
                            created_at: string;
                            description: string;
                            id: string;
                            /** @description Nobody has reported the tokens: they were reckoned from the number of characters */
                            is_estimated: boolean;
                            operation: string;
                            /** @description The iteration that encloses the node, such as `LOOP[3]/INNER[0]`; empty outside loops */
                            path: string;
                            reason: string;
                            run_id: string;
                            /** @enum {string} */
                            status: "Succeeded" | "Error";
                            /** Format: date-time */
                            updated_at: string;
                            user_id: number;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_callbacks_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
                "text/plain": string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        accepted: boolean;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_categories: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description The id as text: what a filter takes. */
                            code: string;
                            id: number;
                            name: string;
                            /** @description The category of a subcategory; null for a category. */
                            parent: number | null;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_connection_presets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ({
                        /** Format: uri */
                        documentation_url: string;
                        id: string;
                        /** @constant */
                        kind: "header";
                        /** @description The address for MCP nodes, where the service has an MCP server. */
                        mcp_url?: string;
                        name: string;
                        origins: string[];
                        /** @description Settings of the kind, without those that differ from account to account. */
                        settings: {
                            name: string;
                        } | {
                            names: string[];
                        };
                    } | {
                        /** Format: uri */
                        documentation_url: string;
                        id: string;
                        /** @constant */
                        kind: "query";
                        /** @description The address for MCP nodes, where the service has an MCP server. */
                        mcp_url?: string;
                        name: string;
                        origins: string[];
                        /** @description Settings of the kind, without those that differ from account to account. */
                        settings: {
                            name: string;
                        } | {
                            names: string[];
                        };
                    } | {
                        /** Format: uri */
                        documentation_url: string;
                        id: string;
                        /** @constant */
                        kind: "basic";
                        /** @description The address for MCP nodes, where the service has an MCP server. */
                        mcp_url?: string;
                        name: string;
                        origins: string[];
                        /** @description Settings of the kind, without those that differ from account to account. */
                        settings: {
                            username?: string;
                        };
                    } | {
                        /** Format: uri */
                        documentation_url: string;
                        id: string;
                        /** @constant */
                        kind: "bearer";
                        /** @description The address for MCP nodes, where the service has an MCP server. */
                        mcp_url?: string;
                        name: string;
                        origins: string[];
                        /** @description Settings of the kind, without those that differ from account to account. */
                        settings: Record<string, unknown>;
                    } | {
                        /** Format: uri */
                        documentation_url: string;
                        id: string;
                        /** @constant */
                        kind: "oauth2_client_credentials";
                        /** @description The address for MCP nodes, where the service has an MCP server. */
                        mcp_url?: string;
                        name: string;
                        origins: string[];
                        /** @description Settings of the kind, without those that differ from account to account. */
                        settings: {
                            scopes: string[];
                            token_url: string;
                        };
                    } | {
                        /** Format: uri */
                        documentation_url: string;
                        id: string;
                        /** @constant */
                        kind: "oauth2";
                        /** @description The address for MCP nodes, where the service has an MCP server. */
                        mcp_url?: string;
                        name: string;
                        origins: string[];
                        /** @description Settings of the kind, without those that differ from account to account. */
                        settings: {
                            authorize_params?: {
                                [key: string]: string;
                            };
                            authorize_url: string;
                            /** @enum {string} */
                            client_auth?: "basic" | "post";
                            scopes: string[];
                            token_url: string;
                        };
                    } | {
                        /** Format: uri */
                        documentation_url: string;
                        id: string;
                        /** @constant */
                        kind: "mcp_oauth";
                        /** @description The address for MCP nodes, where the service has an MCP server. */
                        mcp_url?: string;
                        name: string;
                        origins: string[];
                        /** @description Settings of the kind, without those that differ from account to account. */
                        settings: {
                            server_url: string;
                        };
                    } | {
                        /** Format: uri */
                        documentation_url: string;
                        id: string;
                        /** @constant */
                        kind: "path";
                        /** @description The address for MCP nodes, where the service has an MCP server. */
                        mcp_url?: string;
                        name: string;
                        origins: string[];
                        /** @description Settings of the kind, without those that differ from account to account. */
                        settings: {
                            prefix: string;
                        };
                    })[];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_connections: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
                status?: "needs_authorization";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description Who has signed in, where the provider tells it */
                            account: string | null;
                            /** @description When the access token expires; it is renewed before */
                            expires_at: string | null;
                            id: number;
                            /** @enum {string} */
                            kind: "header" | "query" | "path" | "basic" | "bearer" | "oauth2_client_credentials" | "oauth2" | "mcp_oauth";
                            last_used_at: string | null;
                            name: string;
                            /** @description The credential goes to these and to no other */
                            origins: string[];
                            project: {
                                id: number;
                                name: string;
                            };
                            /** @description By the kind, each ******** */
                            secrets: {
                                [key: string]: unknown;
                            };
                            /** @description By the kind; no secrets */
                            settings: {
                                [key: string]: unknown;
                            };
                            /** @enum {string} */
                            status: "ready" | "needs_authorization" | "failing";
                            status_reason: string | null;
                            /** @description How many workflows name it */
                            used_by: number;
                            waiting_runs: number;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_connections_callback: {
        parameters: {
            query?: {
                code?: string;
                error?: string;
                iss?: string;
                state?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; go to the address in `Location`. */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_conversations_conversation_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    delete_conversations_conversation_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    patch_conversations_conversation_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    title?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_conversations_conversation_id_messages: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Message"][];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_conversations_conversation_id_messages: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description May be empty where there are files */
                    content: string;
                    /**
                     * @description File values, or ids of files of the project
                     * @default []
                     */
                    files?: unknown[];
                    /**
                     * @description While an earlier message is being answered: wait for it, cancel it and what is queued, or a 409 `busy`
                     * @default queue
                     * @enum {string}
                     */
                    on_busy?: "queue" | "stop" | "reject";
                    /**
                     * Format: uuid
                     * @description The message in whose place this one is asked, or the answer to it
                     */
                    replaces?: string;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: components["schemas"]["Message"];
                        /** Format: uuid */
                        run_id: string;
                    };
                };
            };
            /** @description What `ServiceError` reads. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BadRequest"] | components["schemas"]["Error"] | {
                        code: string;
                        detail: string;
                        /** @description Fields of the input and what is wrong with them */
                        errors?: {
                            [key: string]: string[];
                        };
                    };
                };
            };
        };
    };
    get_file_links_token: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
                "If-Range"?: string;
                /** @description One range of bytes; several are answered with the whole file */
                Range?: string;
            };
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description Status 206. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description Nothing has changed; no body. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_files_file_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileFacts"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    delete_files_file_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    get_files_file_id_content: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string;
                "If-Range"?: string;
                /** @description One range of bytes; several are answered with the whole file */
                Range?: string;
            };
            path: {
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description Status 206. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description Nothing has changed; no body. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_files_file_id_link: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description Seconds
                     * @default 300
                     */
                    expires_in?: number;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uri */
                        url: string;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_hooks_token: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
                "Svix-Id"?: string;
                "Webhook-Id"?: string;
                "X-Github-Delivery"?: string;
            };
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
                "text/plain": string;
            };
        };
        responses: {
            /** @description Taken; it is done soon. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description The run
                         */
                        id: string;
                    };
                };
            };
            /** @description What `ServiceError` reads. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BadRequest"] | components["schemas"]["Error"] | {
                        code: string;
                        detail: string;
                        /** @description Fields of the input and what is wrong with them */
                        errors?: {
                            [key: string]: string[];
                        };
                    };
                };
            };
        };
    };
    get_human_tasks: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
                status?: "pending" | "answered" | "expired" | "decided";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description The action that enough people have chosen */
                            action: string | null;
                            actions: {
                                id: string;
                                label: string;
                            }[];
                            answers: {
                                action: string;
                                /** Format: date-time */
                                answered_at: string;
                                answered_by: {
                                    id: number;
                                    name: string;
                                };
                                comment: string;
                                values: {
                                    [key: string]: unknown;
                                };
                            }[];
                            /** Format: date-time */
                            created_at: string;
                            decided_at: string | null;
                            /** @description Whose answer settled the task */
                            decided_by: {
                                id: number;
                                name: string;
                            } | null;
                            /** Format: date-time */
                            expires_at: string;
                            /** @description What to enter, as the input fields of a trigger */
                            fields: {
                                [key: string]: unknown;
                            }[];
                            /** @description What the node shows */
                            files: {
                                /** @constant */
                                deleted?: true;
                                /** Format: uuid */
                                file_id: string;
                                name: string;
                                sha256: string;
                                /** @description In bytes */
                                size: number;
                                /** @description The media type, as it was declared */
                                type: string;
                            }[];
                            id: string;
                            /** @description Whether the caller may answer now */
                            may_answer: boolean;
                            /** @description Markdown, secrets masked */
                            message: string;
                            node_id: string;
                            node_label: string;
                            /** @description The iteration that encloses the node, such as `LOOP[3]/INNER[0]`; empty outside loops */
                            path: string;
                            project: {
                                id: number;
                                name: string;
                            };
                            /** @enum {string} */
                            purpose: "run" | "test" | "assistant";
                            /** @description The comment of that answer */
                            reason: string;
                            /** @description Who started the run */
                            requested_by: {
                                id: number;
                                name: string;
                            };
                            /** @description How many people must choose the same action */
                            required: number;
                            run_id: string;
                            /** @enum {string} */
                            status: "pending" | "answered" | "expired";
                            workflow: {
                                id: number;
                                title: string;
                            };
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_human_tasks_task_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The action that enough people have chosen */
                        action: string | null;
                        actions: {
                            id: string;
                            label: string;
                        }[];
                        answers: {
                            action: string;
                            /** Format: date-time */
                            answered_at: string;
                            answered_by: {
                                id: number;
                                name: string;
                            };
                            comment: string;
                            values: {
                                [key: string]: unknown;
                            };
                        }[];
                        /** Format: date-time */
                        created_at: string;
                        decided_at: string | null;
                        /** @description Whose answer settled the task */
                        decided_by: {
                            id: number;
                            name: string;
                        } | null;
                        /** Format: date-time */
                        expires_at: string;
                        /** @description What to enter, as the input fields of a trigger */
                        fields: {
                            [key: string]: unknown;
                        }[];
                        /** @description What the node shows */
                        files: {
                            /** @constant */
                            deleted?: true;
                            /** Format: uuid */
                            file_id: string;
                            name: string;
                            sha256: string;
                            /** @description In bytes */
                            size: number;
                            /** @description The media type, as it was declared */
                            type: string;
                        }[];
                        id: string;
                        /** @description Whether the caller may answer now */
                        may_answer: boolean;
                        /** @description Markdown, secrets masked */
                        message: string;
                        node_id: string;
                        node_label: string;
                        /** @description The iteration that encloses the node, such as `LOOP[3]/INNER[0]`; empty outside loops */
                        path: string;
                        project: {
                            id: number;
                            name: string;
                        };
                        /** @enum {string} */
                        purpose: "run" | "test" | "assistant";
                        /** @description The comment of that answer */
                        reason: string;
                        /** @description Who started the run */
                        requested_by: {
                            id: number;
                            name: string;
                        };
                        /** @description How many people must choose the same action */
                        required: number;
                        run_id: string;
                        /** @enum {string} */
                        status: "pending" | "answered" | "expired";
                        workflow: {
                            id: number;
                            title: string;
                        };
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    post_human_tasks_task_id_answer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    action: string;
                    comment?: string | null;
                    /** @description By the ids of the fields */
                    values?: {
                        [key: string]: unknown;
                    } | null;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The action that enough people have chosen */
                        action: string | null;
                        actions: {
                            id: string;
                            label: string;
                        }[];
                        answers: {
                            action: string;
                            /** Format: date-time */
                            answered_at: string;
                            answered_by: {
                                id: number;
                                name: string;
                            };
                            comment: string;
                            values: {
                                [key: string]: unknown;
                            };
                        }[];
                        /** Format: date-time */
                        created_at: string;
                        decided_at: string | null;
                        /** @description Whose answer settled the task */
                        decided_by: {
                            id: number;
                            name: string;
                        } | null;
                        /** Format: date-time */
                        expires_at: string;
                        /** @description What to enter, as the input fields of a trigger */
                        fields: {
                            [key: string]: unknown;
                        }[];
                        /** @description What the node shows */
                        files: {
                            /** @constant */
                            deleted?: true;
                            /** Format: uuid */
                            file_id: string;
                            name: string;
                            sha256: string;
                            /** @description In bytes */
                            size: number;
                            /** @description The media type, as it was declared */
                            type: string;
                        }[];
                        id: string;
                        /** @description Whether the caller may answer now */
                        may_answer: boolean;
                        /** @description Markdown, secrets masked */
                        message: string;
                        node_id: string;
                        node_label: string;
                        /** @description The iteration that encloses the node, such as `LOOP[3]/INNER[0]`; empty outside loops */
                        path: string;
                        project: {
                            id: number;
                            name: string;
                        };
                        /** @enum {string} */
                        purpose: "run" | "test" | "assistant";
                        /** @description The comment of that answer */
                        reason: string;
                        /** @description Who started the run */
                        requested_by: {
                            id: number;
                            name: string;
                        };
                        /** @description How many people must choose the same action */
                        required: number;
                        run_id: string;
                        /** @enum {string} */
                        status: "pending" | "answered" | "expired";
                        workflow: {
                            id: number;
                            title: string;
                        };
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_languages: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                search?: string;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description What a filter and `available_languages` take. */
                            code: string;
                            /** @description In English. */
                            name: string;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Whether the user's API keys are admitted. */
                        api_access: boolean;
                        email: string | null;
                        id: number;
                        /** @description May manage users, list all pools, and of every project change the pools and read the audit log. It gives no other access to the projects of others. */
                        is_admin: boolean;
                        name: string;
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_models: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @description USD, a plain decimal */
                        input_price_per_million: string;
                        /** @description USD, a plain decimal */
                        output_price_per_million: string;
                        provider: string;
                    }[];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_openapi_json: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        openapi: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_pools: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        backlog: number;
                        /** @description Of versioned workers */
                        build_ids: string[];
                        name: string;
                        /** @description For how long the first of the backlog has been due */
                        oldest_seconds: number;
                        /** @description Workers that have reported within the last 15 seconds */
                        workers: number;
                    }[];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_projects: {
        parameters: {
            query?: {
                name__icontains?: string;
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Project"][];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_projects: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @default false */
                    is_webhook_enabled?: boolean;
                    name: string;
                    /** @default  */
                    webhook_url?: string;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_projects_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    delete_projects_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    patch_projects_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    is_webhook_enabled?: boolean;
                    name?: string;
                    pool?: string | null;
                    pools?: string[];
                    spending_limit?: {
                        /** @description USD, a plain decimal */
                        amount: string;
                        /**
                         * @description Days and months begin at midnight UTC
                         * @enum {string}
                         */
                        period: "day" | "month" | "total";
                    } | null;
                    webhook_url?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"] | components["schemas"]["ProjectPools"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_projects_id_audit: {
        parameters: {
            query?: {
                action?: "approval.approved" | "approval.rejected" | "callback.accepted" | "case.created" | "case.changed" | "case.deleted" | "case_run.cancelled" | "category.created" | "category.deleted" | "chat.called" | "connection.created" | "connection.changed" | "connection.deleted" | "connection.authorized" | "connection.used" | "conversation.created" | "conversation.changed" | "conversation.deleted" | "file.uploaded" | "file.deleted" | "file_link.created" | "hook.created" | "hook.changed" | "hook.deleted" | "hook.refused" | "human_task.answered" | "key.created" | "key.changed" | "key.deleted" | "login.succeeded" | "login.refused" | "member.added" | "member.changed" | "member.removed" | "mcp_tools.listed" | "password.changed" | "password_link.created" | "pin.changed" | "pin.deleted" | "project.created" | "project.changed" | "project.deleted" | "provider_key.added" | "provider_key.removed" | "run.cancelled" | "run.flagged" | "run.reported" | "run.started" | "schedule.created" | "schedule.changed" | "schedule.deleted" | "schedule.paused" | "secrets.reencrypted" | "service.created" | "service.changed" | "service.deleted" | "session.ended" | "session.refreshed" | "sign_in_link.created" | "signals.resent" | "token.issued" | "tool.called" | "user.created" | "user.changed" | "webhook_delivery.sent_again" | "webhook_secret.renewed" | "workflow.bookmarked" | "workflow.created" | "workflow.changed" | "workflow.checked" | "workflow.copied" | "workflow.deleted" | "workflow.drafted" | "workflow.duplicated" | "workflow.estimated" | "workflow.imported" | "workflow.moved" | "workflow.published" | "workflow.restored" | "workflow.unpublished";
                /** @description ISO 8601 with its offset; a day without a time is the whole UTC day */
                from?: string | unknown | unknown;
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
                /** @description ISO 8601 with its offset; a day without a time is the whole UTC day */
                to?: string | unknown | unknown;
                user?: number;
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @enum {string} */
                            action: "approval.approved" | "approval.rejected" | "callback.accepted" | "case.created" | "case.changed" | "case.deleted" | "case_run.cancelled" | "category.created" | "category.deleted" | "chat.called" | "connection.created" | "connection.changed" | "connection.deleted" | "connection.authorized" | "connection.used" | "conversation.created" | "conversation.changed" | "conversation.deleted" | "file.uploaded" | "file.deleted" | "file_link.created" | "hook.created" | "hook.changed" | "hook.deleted" | "hook.refused" | "human_task.answered" | "key.created" | "key.changed" | "key.deleted" | "login.succeeded" | "login.refused" | "member.added" | "member.changed" | "member.removed" | "mcp_tools.listed" | "password.changed" | "password_link.created" | "pin.changed" | "pin.deleted" | "project.created" | "project.changed" | "project.deleted" | "provider_key.added" | "provider_key.removed" | "run.cancelled" | "run.flagged" | "run.reported" | "run.started" | "schedule.created" | "schedule.changed" | "schedule.deleted" | "schedule.paused" | "secrets.reencrypted" | "service.created" | "service.changed" | "service.deleted" | "session.ended" | "session.refreshed" | "sign_in_link.created" | "signals.resent" | "token.issued" | "tool.called" | "user.created" | "user.changed" | "webhook_delivery.sent_again" | "webhook_secret.renewed" | "workflow.bookmarked" | "workflow.created" | "workflow.changed" | "workflow.checked" | "workflow.copied" | "workflow.deleted" | "workflow.drafted" | "workflow.duplicated" | "workflow.estimated" | "workflow.imported" | "workflow.moved" | "workflow.published" | "workflow.restored" | "workflow.unpublished";
                            /** @description With the name of that time; null where nobody is known, or the service itself has done it */
                            actor: {
                                id: number;
                                name: string;
                            } | null;
                            /** @description Of the client */
                            address: string | null;
                            /** Format: date-time */
                            at: string;
                            /** @description `{field: [before, after]}`, secrets as ********, of a drawing its versions; long texts are cut */
                            changes: {
                                [key: string]: [
                                    unknown,
                                    unknown
                                ];
                            };
                            /** @description Of `mcp`: the name of the assistant, as it has given it */
                            client: string | null;
                            /** @description How many refusals the record stands for */
                            count: number;
                            /** @description SHA-256 in hexadecimal digits; null until the record is chained, 10 seconds at most */
                            hash: string | null;
                            id: number;
                            key_id: number | null;
                            /** @enum {string} */
                            outcome: "success" | "refused";
                            /** @description Null: it belongs to no project */
                            project: number | null;
                            target: {
                                id: number | string;
                                name: string;
                                type: string;
                            } | null;
                            /** @enum {string} */
                            via: "session" | "key" | "link" | "hook" | "callback" | "schedule" | "mcp" | "system";
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_projects_id_connections: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Connection"][];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_projects_id_connections: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    kind: "header" | "query" | "path" | "basic" | "bearer" | "oauth2_client_credentials" | "oauth2" | "mcp_oauth";
                    name: string;
                    origins: string[];
                    /**
                     * @description By the kind; never read back
                     * @default {}
                     */
                    secrets?: {
                        [key: string]: unknown;
                    };
                    /**
                     * @description By the kind
                     * @default {}
                     */
                    settings?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connection"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_projects_id_connections_connection_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                connection_id: number;
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connection"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    delete_projects_id_connections_connection_id: {
        parameters: {
            query?: {
                force?: "true" | "false";
            };
            header?: never;
            path: {
                connection_id: number;
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    patch_projects_id_connections_connection_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                connection_id: number;
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    name?: string;
                    origins?: string[];
                    secrets?: {
                        [key: string]: unknown;
                    };
                    settings?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connection"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_projects_id_connections_connection_id_authorize: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                connection_id: number;
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uri */
                        url: string;
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    post_projects_id_connections_connection_id_test: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                connection_id: number;
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    url?: string | null;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        ok: boolean;
                        status: number | null;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_projects_id_connections_connection_id_used_by: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                connection_id: number;
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The newest 100 */
                        runs: {
                            id: string;
                            waits: boolean;
                            workflow: number;
                        }[];
                        workflows: {
                            id: number;
                            title: string;
                        }[];
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_projects_id_files: {
        parameters: {
            query?: {
                ordering?: "size" | "-size" | "created_at" | "-created_at";
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description A part of the name */
                search?: string;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["FileFacts"][];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_projects_id_files: {
        parameters: {
            query?: never;
            header?: {
                "Content-Type"?: string;
                /** @description Percent-encoded UTF-8 */
                "X-File-Name"?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/octet-stream": string;
                "multipart/form-data": {
                    /** Format: binary */
                    file: string;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["File"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_projects_id_hooks: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description As whom the runs are started */
                            author: {
                                id: number;
                                name: string;
                            };
                            /** Format: date-time */
                            created_at: string;
                            /** @description Of `hmac-sha256`: the header with the signature */
                            header: string | null;
                            id: number;
                            /** @description Why deliveries start no runs; null: they do. The author may not run the workflow any more */
                            inactive_reason: "author_lost_access" | null;
                            /** @description The last one that was not throttled */
                            last_delivery: {
                                /** Format: date-time */
                                at: string;
                                /** @description The HTTP status that it was answered with */
                                status: number;
                            } | null;
                            /**
                             * Format: uri
                             * @description Where deliveries are sent to, for its author and owners of the project
                             */
                            url?: string;
                            /** @enum {string} */
                            verify: "none" | "standard-webhooks" | "hmac-sha256";
                            workflow: {
                                id: number;
                                title: string;
                            };
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_projects_id_import: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The connections that the drawing names; in files of n8n its links */
                    connections?: unknown;
                    data?: Record<string, unknown>;
                    description?: string;
                    /** @example workflow-automation/1 */
                    format?: string;
                    /** @description The title, in files of n8n */
                    name?: string;
                    nodes?: unknown[];
                    title?: string;
                } | unknown[];
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        author: number;
                        available_languages: string[];
                        can_edit: boolean;
                        categories: number[];
                        copied_from: number | null;
                        /** Format: date-time */
                        created_at: string;
                        data: {
                            [key: string]: unknown;
                        };
                        free_runs_per_user: number;
                        id: number;
                        /** @description Whether it has conversations, and is a model of `/v1/chat/completions` */
                        is_chat: boolean;
                        is_published: boolean;
                        /** @description Whether `/mcp` offers it as a tool to everybody who may run it */
                        is_tool: boolean;
                        market_title: string;
                        /** @description USD, of a run with the runs below it; null: no limit */
                        max_run_cost: string | null;
                        project: number;
                        readme_guide: string;
                        role: components["schemas"]["Role"];
                        run_fee: string;
                        short_description: string;
                        slug: string | null;
                        sort_id: number;
                        subcategories: number[];
                        /** @description At most 10, in the order in which they were given */
                        tags: string[];
                        title: string;
                        /** Format: date-time */
                        updated_at: string;
                        /** @description Of the drawing, from 1; rises with each change of what it runs */
                        version: number;
                        warnings: {
                            message: string;
                            /** @description The name of the node; null: the whole file */
                            node: string | null;
                        }[];
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_projects_id_members: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            email: string | null;
                            name: string;
                            role: components["schemas"]["Role"];
                            user_id: number;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_projects_id_members: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    email?: string;
                    role: components["schemas"]["Role"];
                    user_id?: number;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        email: string | null;
                        name: string;
                        role: components["schemas"]["Role"];
                        user_id: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    delete_projects_id_members_user_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
                user_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    patch_projects_id_members_user_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
                user_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    role: components["schemas"]["Role"];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        email: string | null;
                        name: string;
                        role: components["schemas"]["Role"];
                        user_id: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_projects_id_provider_keys: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** Format: date-time */
                            created_at: string;
                            id: number;
                            masked_key: string;
                            name: string;
                            provider: string;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_projects_id_provider_keys: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    key: string;
                    /** @default  */
                    name?: string;
                    /** @description The name of a provider, as the operator has configured it. */
                    provider: string;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date-time */
                        created_at: string;
                        id: number;
                        masked_key: string;
                        name: string;
                        provider: string;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    delete_projects_id_provider_keys_key_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
                key_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    get_projects_id_schedules: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 20 it counts as 20. */
                page_size?: number;
                /** @description Above 20 it counts as 20. */
                size?: number;
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description As whom the runs are started */
                            author: {
                                id: number;
                                name: string;
                            };
                            catchup_seconds: number;
                            /** Format: date-time */
                            created_at: string;
                            cron: string;
                            /** Format: uuid */
                            id: string;
                            /** @description As it leaves the service: secrets masked. Null: its key was withdrawn */
                            input: unknown;
                            is_paused: boolean;
                            jitter_seconds: number;
                            last_firing: {
                                /**
                                 * Format: date-time
                                 * @description The time that it was meant for
                                 */
                                at: string;
                                /** @description Why no run was started */
                                refusal: {
                                    code: string;
                                    message: string;
                                } | null;
                                run_id: string | null;
                            } | null;
                            /** @description The next five at most; empty while it is paused. Null: the engine does not answer or has not been told yet */
                            next_run_times: string[] | null;
                            /** @enum {string} */
                            overlap: "skip" | "buffer_one" | "allow_all" | "cancel_other";
                            /** @description Why the service has paused it: the author may not run the workflow any more. Null: a person has paused it, or it is not paused */
                            pause_reason: "author_lost_access" | null;
                            time_zone: string;
                            workflow: {
                                id: number;
                                title: string;
                            };
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_projects_id_services: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The title of the document when absent */
                    name?: string | null;
                    /** @description A document as an object, as text in JSON or YAML, or its https address; 20 MiB once decoded */
                    openapi: {
                        [key: string]: unknown;
                    } | string;
                    /** @description The address of the service, with the path that all operations have in common; replaces all servers */
                    server_url?: string | null;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredService"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    put_projects_id_services_service_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
                service_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The title of the document when absent */
                    name?: string | null;
                    /** @description A document as an object, as text in JSON or YAML, or its https address; 20 MiB once decoded */
                    openapi: {
                        [key: string]: unknown;
                    } | string;
                    /** @description The address of the service, with the path that all operations have in common; replaces all servers */
                    server_url?: string | null;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredService"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    delete_projects_id_services_service_id: {
        parameters: {
            query?: {
                force?: "true" | "false";
            };
            header?: never;
            path: {
                id: number;
                service_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_projects_id_spending: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description By calls that are on the wire, or not in the books yet */
                        reserved: components["schemas"]["Amount"];
                        reserved_calls: number;
                        spending_limit: {
                            /** @description USD, a plain decimal */
                            amount: string;
                            /**
                             * @description Days and months begin at midnight UTC
                             * @enum {string}
                             */
                            period: "day" | "month" | "total";
                        } | null;
                        spent_in_period: components["schemas"]["Amount"];
                        stopped: {
                            /** @description Calls that were not made */
                            calls: number;
                            /**
                             * Format: date
                             * @description Of UTC
                             */
                            day: string;
                            /** Format: date-time */
                            last_at: string;
                            last_run_id: string | null;
                            /**
                             * @description The project's `spending_limit`; the `max_run_cost` of a workflow, or the `max_cost` of a test (`run`); the `max_cost` of an agent, or of a run of cases
                             * @enum {string}
                             */
                            limited_by: "project" | "run" | "agent" | "cases";
                            /** @enum {string} */
                            source: "run" | "chat";
                        }[];
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_projects_id_tags: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        tag: string;
                    }[];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_projects_id_webhook_deliveries: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            attempts: number;
                            /** Format: date-time */
                            created_at: string;
                            delivered_at: string | null;
                            /** @description Code of the error of the last attempt; null if it did not fail */
                            error: string | null;
                            /**
                             * Format: uuid
                             * @description The `webhook-id` of every attempt.
                             */
                            id: string;
                            next_attempt_at: string | null;
                            /** @description Status of the answer to the last attempt; null if there was none */
                            response_status: number | null;
                            /** @description Null for an event of the project */
                            run_id: string | null;
                            /** @enum {string} */
                            status: "pending" | "delivered" | "failed" | "dropped";
                            type: string;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_projects_id_webhook_deliveries_delivery_id_send_again: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                delivery_id: string;
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Taken; it is done soon. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        attempts: number;
                        /** Format: date-time */
                        created_at: string;
                        delivered_at: string | null;
                        /** @description Code of the error of the last attempt; null if it did not fail */
                        error: string | null;
                        /**
                         * Format: uuid
                         * @description The `webhook-id` of every attempt.
                         */
                        id: string;
                        next_attempt_at: string | null;
                        /** @description Status of the answer to the last attempt; null if there was none */
                        response_status: number | null;
                        /** @description Null for an event of the project */
                        run_id: string | null;
                        /** @enum {string} */
                        status: "pending" | "delivered" | "failed" | "dropped";
                        type: string;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_projects_id_webhook_secret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        webhook_secret: string;
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_runs: {
        parameters: {
            query?: {
                ordering?: "created_at" | "-created_at" | "cost" | "-cost";
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                project?: number;
                /** @description `assistant`: the answers of the assistant in the editor to the caller */
                purpose?: "run" | "test" | "assistant";
                search?: string;
                /** @description Above 100 it counts as 100. */
                size?: number;
                /** @description ISO 8601 with its offset; a day without a time is the whole UTC day */
                started_after?: string | unknown | unknown;
                /** @description ISO 8601 with its offset; a day without a time is the whole UTC day */
                started_before?: string | unknown | unknown;
                status?: "In Progress" | "Succeeded" | "Cancelled" | "Error" | "Draft";
                /** @description Only runs that wait for people: `waiting_for` is `approval`, `human` or `connection` */
                waiting?: boolean;
                workflow?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            cost: components["schemas"]["Amount"];
                            /** Format: date-time */
                            created_at: string;
                            duration: number | null;
                            error: {
                                code: string;
                                message: string;
                            } | null;
                            id: string;
                            is_api_run: boolean;
                            /** @description The node that has started it */
                            parent_node_id: string | null;
                            /** @description The iteration of that node; empty outside loops */
                            parent_path: string | null;
                            /** @description Of the run of a sub-workflow: the run that has started it */
                            parent_run_id: string | null;
                            project: {
                                id: number;
                                name: string;
                            };
                            /** @enum {string} */
                            purpose: "run" | "test" | "assistant";
                            /**
                             * Format: date-time
                             * @description Since then the contents of the results are gone
                             */
                            results_expired_at?: string;
                            /** @description The earlier run whose results it began with (resume) */
                            resumed_from: string | null;
                            run_finished_at: string | null;
                            run_started_at: string | null;
                            /** @enum {string} */
                            status: "In Progress" | "Succeeded" | "Cancelled" | "Error" | "Draft";
                            /** @description With the runs of its sub-workflows, and theirs */
                            total_cost: components["schemas"]["Amount"];
                            /** Format: date-time */
                            updated_at: string;
                            use_as_marketplace_template: boolean;
                            use_in_marketplace_example: boolean;
                            /** @description What an open run waits for while nothing of it is in flight: the first of these. The pause between two attempts is `time`. `worker`: no worker serves the pool of its nodes now */
                            waiting_for: ("approval" | "human" | "connection" | "callback" | "time" | "child" | "worker") | null;
                            workflow: {
                                id: number;
                                title: string;
                            };
                            /** @description The version of the drawing that it was started with; null for the test of a drawing that is not stored */
                            workflow_version: number | null;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_runs_run_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The nodes of which one writes the answer of a chat (`settings.answer_node`); not in lists */
                        answer_nodes?: string[];
                        cost: components["schemas"]["Amount"];
                        /** Format: date-time */
                        created_at: string;
                        data: {
                            [key: string]: unknown;
                        };
                        duration: number | null;
                        error: {
                            code: string;
                            message: string;
                        } | null;
                        id: string;
                        input_data: unknown;
                        input_fields: {
                            [key: string]: unknown;
                        }[];
                        is_api_run: boolean;
                        /** @description The node that has started it */
                        parent_node_id: string | null;
                        /** @description The iteration of that node; empty outside loops */
                        parent_path: string | null;
                        /** @description Of the run of a sub-workflow: the run that has started it */
                        parent_run_id: string | null;
                        project: {
                            id: number;
                            name: string;
                        };
                        /** @enum {string} */
                        purpose: "run" | "test" | "assistant";
                        result: {
                            [key: string]: components["schemas"]["NodeResult"];
                        };
                        /**
                         * Format: date-time
                         * @description Since then the contents of the results are gone
                         */
                        results_expired_at?: string;
                        /** @description The earlier run whose results it began with (resume) */
                        resumed_from: string | null;
                        run_finished_at: string | null;
                        run_started_at: string | null;
                        /** @enum {string} */
                        status: "In Progress" | "Succeeded" | "Cancelled" | "Error" | "Draft";
                        /**
                         * Format: uri
                         * @description The run in the Temporal UI, for operators; only where they have set its address
                         */
                        temporal_url?: string;
                        /** @description With the runs of its sub-workflows, and theirs */
                        total_cost: components["schemas"]["Amount"];
                        /** Format: date-time */
                        updated_at: string;
                        use_as_marketplace_template: boolean;
                        use_in_marketplace_example: boolean;
                        /** @description What an open run waits for while nothing of it is in flight: the first of these. The pause between two attempts is `time`. `worker`: no worker serves the pool of its nodes now */
                        waiting_for: ("approval" | "human" | "connection" | "callback" | "time" | "child" | "worker") | null;
                        workflow: {
                            id: number;
                            title: string;
                        };
                        /** @description The version of the drawing that it was started with; null for the test of a drawing that is not stored */
                        workflow_version: number | null;
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_services: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                project?: number;
                search?: string;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Service"][];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_services_service_id_actions: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                search?: string;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path: {
                service_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Action"][];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_services_service_id_actions_action_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                action_id: string;
                service_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Action"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_usage: {
        parameters: {
            query?: {
                from?: string;
                group_by?: "day" | "project" | "workflow" | "model" | "node_kind";
                project?: number;
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        amount: components["schemas"]["Amount"];
                        /** @description Model calls that were answered */
                        calls: number;
                        /** @description Those of them whose tokens nobody has reported */
                        estimated_calls: number;
                        input_tokens: number;
                        /** @description The day, the id as text, the name of the model or the word of the kind; empty without one */
                        key: string;
                        /** @description For people */
                        label: string;
                        output_tokens: number;
                        /** @description Runs with a transaction in the span */
                        runs: number;
                    }[];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_users: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                search?: string;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description Whether the user's API keys are admitted. */
                            api_access: boolean;
                            /** Format: date-time */
                            created_at: string;
                            email: string | null;
                            id: number;
                            /** @description False: keys, tokens and sign-ins of the user are refused. */
                            is_active: boolean;
                            /** @description May manage users, list all pools, and of every project change the pools and read the audit log. It gives no other access to the projects of others. */
                            is_admin: boolean;
                            name: string;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_users: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @default true */
                    api_access?: boolean;
                    /** @default null */
                    email?: string | null;
                    /** @default false */
                    is_admin?: boolean;
                    name: string;
                    password?: unknown;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Whether the user's API keys are admitted. */
                        api_access: boolean;
                        /** Format: date-time */
                        created_at: string;
                        email: string | null;
                        id: number;
                        /** @description False: keys, tokens and sign-ins of the user are refused. */
                        is_active: boolean;
                        /** @description May manage users, list all pools, and of every project change the pools and read the audit log. It gives no other access to the projects of others. */
                        is_admin: boolean;
                        name: string;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    patch_users_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    api_access?: boolean;
                    email?: string | null;
                    is_active?: boolean;
                    is_admin?: boolean;
                    name?: string;
                    password?: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Whether the user's API keys are admitted. */
                        api_access: boolean;
                        /** Format: date-time */
                        created_at: string;
                        email: string | null;
                        id: number;
                        /** @description False: keys, tokens and sign-ins of the user are refused. */
                        is_active: boolean;
                        /** @description May manage users, list all pools, and of every project change the pools and read the audit log. It gives no other access to the projects of others. */
                        is_admin: boolean;
                        name: string;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_users_id_password_link: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date-time */
                        expires_at: string;
                        /**
                         * Format: uri
                         * @description To be handed to the user
                         */
                        url: string;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_users_id_sessions: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** Format: date-time */
                            created_at: string;
                            /** Format: date-time */
                            expires_at: string;
                            /** Format: uuid */
                            id: string;
                            /** @description Whether the request belongs to it */
                            is_current: boolean;
                            /**
                             * Format: date-time
                             * @description The sign-in or the last refresh
                             */
                            last_used_at: string;
                            /**
                             * @description How the user signed in
                             * @enum {string}
                             */
                            method: "password" | "link" | "oidc";
                            /** @description Where it was used last: an IPv4 address, or the /64 of an IPv6 address */
                            network: string;
                            /** @description As the browser calls itself, cut to 255 characters */
                            user_agent: string;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    delete_users_id_sessions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    get_workflows: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                project?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
                title?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            author: number;
                            available_languages: string[];
                            can_edit: boolean;
                            categories: number[];
                            copied_from: number | null;
                            /** Format: date-time */
                            created_at: string;
                            /** @description Absent where it is too large for a list; the single read has it */
                            data?: {
                                [key: string]: unknown;
                            };
                            free_runs_per_user: number;
                            id: number;
                            /** @description Whether it has conversations, and is a model of `/v1/chat/completions` */
                            is_chat: boolean;
                            is_published: boolean;
                            /** @description Whether `/mcp` offers it as a tool to everybody who may run it */
                            is_tool: boolean;
                            market_title: string;
                            /** @description USD, of a run with the runs below it; null: no limit */
                            max_run_cost: string | null;
                            project: number;
                            readme_guide: string;
                            role: components["schemas"]["Role"];
                            run_fee: string;
                            short_description: string;
                            slug: string | null;
                            sort_id: number;
                            subcategories: number[];
                            /** @description At most 10, in the order in which they were given */
                            tags: string[];
                            title: string;
                            /**
                             * @description data is left out
                             * @constant
                             */
                            truncated?: true;
                            /** Format: date-time */
                            updated_at: string;
                            /** @description Of the drawing, from 1; rises with each change of what it runs */
                            version: number;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The drawing: nodes, edges, start_node and whatever else the editor keeps. */
                    data: Record<string, unknown>;
                    project: number;
                    title: string;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    delete_workflows_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    patch_workflows_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of an earlier answer; nothing is changed when it is no longer the present one */
                "If-Match"?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    available_languages?: string[];
                    categories?: number[];
                    /** @description The drawing: nodes, edges, start_node and whatever else the editor keeps. */
                    data?: Record<string, unknown>;
                    /** @description With `from_draft`: the `ETag` of the draft. Nothing is changed when the draft is another one by now (412) */
                    draft_etag?: string;
                    free_runs_per_user?: number;
                    /** @description Whether `********` is the value in the draft of the caller; where that has none, the stored one */
                    from_draft?: boolean;
                    is_chat?: boolean;
                    is_tool?: boolean;
                    market_title?: string;
                    max_run_cost?: string | null;
                    readme_guide?: string;
                    run_fee?: string | number;
                    short_description?: string;
                    subcategories?: number[];
                    /** @description Trimmed, compared exactly; a tag that is given twice is kept once */
                    tags?: string[];
                    title?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_id_assistant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Assistant"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    put_workflows_id_assistant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    model: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Assistant"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_id_assistant_before: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        base_version: number;
                        /** @description Null where there was no draft: the drawing was that of `base_version` */
                        data: {
                            [key: string]: unknown;
                        } | null;
                        /**
                         * Format: uuid
                         * @description The run of the answer
                         */
                        run: string;
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_workflows_id_case_runs_case_run_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                case_run_id: string;
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRun"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    post_workflows_id_case_runs_case_run_id_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                case_run_id: string;
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRun"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_workflows_id_cases: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Case"][];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_id_cases: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @default [] */
                    expect?: {
                        node?: string;
                        /** @enum {string} */
                        operator: "==" | "!=" | ">" | "<" | ">=" | "<=" | "contains" | "not_contains" | "starts_with" | "ends_with" | "matches" | "in" | "is_empty" | "is_not_empty";
                        /** @constant */
                        output?: true;
                        /** @description What would follow `node.` in a variable; of the output, what follows in it */
                        path: string;
                        right?: string | number | boolean;
                    }[];
                    /** @default {} */
                    input?: {
                        [key: string]: unknown;
                    };
                    /** @default {} */
                    mocks?: {
                        [key: string]: unknown;
                    };
                    name: string;
                    /**
                     * @description Whether it must pass before the workflow is published
                     * @default false
                     */
                    required?: boolean;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Case"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_id_cases_case_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                case_id: number;
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Case"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    delete_workflows_id_cases_case_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                case_id: number;
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    patch_workflows_id_cases_case_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                case_id: number;
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    expect?: {
                        node?: string;
                        /** @enum {string} */
                        operator: "==" | "!=" | ">" | "<" | ">=" | "<=" | "contains" | "not_contains" | "starts_with" | "ends_with" | "matches" | "in" | "is_empty" | "is_not_empty";
                        /** @constant */
                        output?: true;
                        /** @description What would follow `node.` in a variable; of the output, what follows in it */
                        path: string;
                        right?: string | number | boolean;
                    }[];
                    input?: {
                        [key: string]: unknown;
                    };
                    mocks?: {
                        [key: string]: unknown;
                    };
                    name?: string;
                    required?: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Case"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_id_cases_from_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    /** Format: uuid */
                    run_id: string;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Case"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_id_cases_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description All cases by default */
                    case_ids?: number[];
                    /** @description The drawing: nodes, edges, start_node and whatever else the editor keeps. */
                    drawing?: Record<string, unknown>;
                    /** @description Whether `********` is the value in the draft of the caller; where that has none, the stored one */
                    from_draft?: boolean;
                    /** @description A call that could cost more is not made: its node fails, and no further case begins */
                    max_cost?: string;
                    version?: number;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                    };
                };
            };
            /** @description What `ServiceError` reads. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": (components["schemas"]["InvalidDrawing"] | components["schemas"]["BadRequest"]) | components["schemas"]["Error"];
                };
            };
        };
    };
    get_workflows_id_check_workflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowCheck"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    post_workflows_id_check_workflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The drawing: nodes, edges, start_node and whatever else the editor keeps. */
                    drawing: Record<string, unknown>;
                    /** @description Whether `********` is the value in the draft of the caller; where that has none, the stored one */
                    from_draft?: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowCheck"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_id_conversations: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
                user?: string;
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Conversation"][];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_id_conversations: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description An object */
                    inputs?: unknown;
                    /** @default  */
                    title?: string;
                    user?: string | null;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_id_draft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Draft"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    put_workflows_id_draft: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of an earlier answer; nothing is changed when it is no longer the present one */
                "If-Match"?: string;
                /** @description `*`: nothing is changed when there is one already */
                "If-None-Match"?: "*";
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    base_version: number;
                    /** @description The drawing: nodes, edges, start_node and whatever else the editor keeps. */
                    data: Record<string, unknown>;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Draft"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    delete_workflows_id_draft: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of an earlier answer; nothing is changed when it is no longer the present one */
                "If-Match"?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_id_duplicate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_id_estimate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A drawing that is not stored; `********` in it is the stored value */
                    drawing?: Record<string, unknown>;
                    /** @description Whether `********` is the value in the draft of the caller; where that has none, the stored one */
                    from_draft?: boolean;
                    /** @description Without it the trigger is taken like any other node */
                    input?: {
                        [key: string]: unknown;
                    };
                    /**
                     * @description `node`: that node alone. `up_to`: what it needs, and itself. `from`: itself, and what follows
                     * @enum {string}
                     */
                    mode: "node" | "up_to" | "from";
                    node: string;
                    /** @description The iteration in which a node of a body is tried; the first one by default */
                    path?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        calls: {
                            has_side_effects: boolean;
                            kind: string;
                            node_id: string;
                        }[];
                        /** @description Null where no bound is known */
                        reserved: components["schemas"]["Amount"] | null;
                    };
                };
            };
            /** @description What `ServiceError` reads. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": (components["schemas"]["InvalidDrawing"] | components["schemas"]["BadRequest"]) | components["schemas"]["Error"];
                };
            };
        };
    };
    get_workflows_id_export: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The connections that the drawing names, without what they contain */
                        connections: {
                            /** @enum {string} */
                            kind: "header" | "query" | "path" | "basic" | "bearer" | "oauth2_client_credentials" | "oauth2" | "mcp_oauth";
                            name: string;
                            origins: string[];
                            /** @description Stands in the drawing where it names the connection */
                            ref: string;
                        }[];
                        data: {
                            [key: string]: unknown;
                        };
                        description: string;
                        /** @constant */
                        format: "workflow-automation/1";
                        /** @description The services of the project whose actions the drawing names */
                        services: {
                            name: string;
                            /** @description Stands in the drawing where it names the service */
                            ref: string;
                        }[];
                        title: string;
                        /** @description The workflows that the drawing runs: an import warns where the project has another one with the id */
                        workflows: {
                            id: number;
                            title: string;
                        }[];
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_workflows_id_history: {
        parameters: {
            query?: {
                ordering?: "created_at" | "-created_at" | "cost" | "-cost";
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                purpose?: "run" | "test";
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description The nodes of which one writes the answer of a chat (`settings.answer_node`); not in lists */
                            answer_nodes?: string[];
                            cost: components["schemas"]["Amount"];
                            /** Format: date-time */
                            created_at: string;
                            /** @description Absent where it is too large for a list; the single read has it */
                            data?: {
                                [key: string]: unknown;
                            };
                            duration: number | null;
                            error: {
                                code: string;
                                message: string;
                            } | null;
                            id: string;
                            /** @description Absent where it is too large for a list; the single read has it */
                            input_data?: unknown;
                            /** @description Absent where data is */
                            input_fields?: {
                                [key: string]: unknown;
                            }[];
                            is_api_run: boolean;
                            /** @description The node that has started it */
                            parent_node_id: string | null;
                            /** @description The iteration of that node; empty outside loops */
                            parent_path: string | null;
                            /** @description Of the run of a sub-workflow: the run that has started it */
                            parent_run_id: string | null;
                            /** @enum {string} */
                            purpose: "run" | "test" | "assistant";
                            result: {
                                [key: string]: components["schemas"]["NodeResult"];
                            };
                            /**
                             * Format: date-time
                             * @description Since then the contents of the results are gone
                             */
                            results_expired_at?: string;
                            /** @description The earlier run whose results it began with (resume) */
                            resumed_from: string | null;
                            run_finished_at: string | null;
                            run_started_at: string | null;
                            /** @enum {string} */
                            status: "In Progress" | "Succeeded" | "Cancelled" | "Error" | "Draft";
                            /**
                             * Format: uri
                             * @description The run in the Temporal UI, for operators; only where they have set its address
                             */
                            temporal_url?: string;
                            /** @description With the runs of its sub-workflows, and theirs */
                            total_cost: components["schemas"]["Amount"];
                            /**
                             * @description data or input_data is left out
                             * @constant
                             */
                            truncated?: true;
                            /** Format: date-time */
                            updated_at: string;
                            use_as_marketplace_template: boolean;
                            use_in_marketplace_example: boolean;
                            /** @description What an open run waits for while nothing of it is in flight: the first of these. The pause between two attempts is `time`. `worker`: no worker serves the pool of its nodes now */
                            waiting_for: ("approval" | "human" | "connection" | "callback" | "time" | "child" | "worker") | null;
                            /** @description The version of the drawing that it was started with; null for the test of a drawing that is not stored */
                            workflow_version: number | null;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_id_history_run_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    post_workflows_id_history_run_id_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_id_history_run_id_iterations: {
        parameters: {
            query: {
                /** @description The id of the loop */
                node: string;
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description The enclosing iteration, such as `LOOP[3]/INNER[0]` */
                path?: string;
                /** @description Above 100 it counts as 100. */
                size?: number;
                status?: "in progress" | "succeed" | "failed";
            };
            header?: never;
            path: {
                id: number;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            finished_at: string | null;
                            /** @description From 0 */
                            index: number;
                            /** @description As in the poll; empty once the results have expired */
                            nodes: {
                                [key: string]: components["schemas"]["NodeResult"];
                            };
                            /** @description Such as `LOOP[3]/INNER[0]`; the nodes of the iteration have it, too */
                            path: string;
                            /**
                             * @description The results are those of an earlier run (resume)
                             * @constant
                             */
                            reused?: true;
                            /** Format: date-time */
                            started_at: string;
                            /** @enum {string} */
                            status: "in progress" | "succeed" | "failed";
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_id_history_run_id_nodes_node_id: {
        parameters: {
            query?: {
                /** @description The enclosing iteration, such as `LOOP[3]/INNER[0]` */
                path?: string;
            };
            header?: never;
            path: {
                id: number;
                node_id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        approval_requests?: {
                            [key: string]: unknown;
                        }[];
                        /** @description In their order, at most the last 100 */
                        attempts: {
                            error: {
                                code: string;
                                message: string;
                            } | null;
                            /** @description Of an attempt whose worker was lost: when the next attempt found it */
                            finished_at: string | null;
                            /** @description Counts from 1 */
                            number: number;
                            /** Format: date-time */
                            started_at: string;
                            /** @enum {string} */
                            status: "in progress" | "succeed" | "failed";
                        }[];
                        error?: {
                            code: string;
                            message: string;
                        };
                        finished_at: string | null;
                        /**
                         * @description The node failed, and the run survived it (`on_error`)
                         * @constant
                         */
                        handled?: true;
                        id: string;
                        /** @description The data of the node with its variables filled in, secrets masked; rendered for this answer */
                        input: {
                            [key: string]: unknown;
                        } | null;
                        /**
                         * @description Why input is null
                         * @enum {string}
                         */
                        input_missing?: "not_started" | "expired" | "too_large" | "unreadable";
                        /** @description Of a loop: how many iterations there are, of a conditional loop so far */
                        iterations?: {
                            failed: number;
                            in_progress: number;
                            succeeded: number;
                            total: number;
                        };
                        /**
                         * @description The result is that of a mock
                         * @constant
                         */
                        mocked?: true;
                        /** @description The iteration that encloses the node, such as `LOOP[3]/INNER[0]`; empty outside loops */
                        path: string;
                        /** @description From when the node was ready to its first attempt; null while it has not begun */
                        queued_ms: number | null;
                        result?: unknown;
                        /**
                         * @description The result was taken over: nothing was executed, and nothing paid
                         * @constant
                         */
                        reused?: true;
                        /** @description What a test has taken the result from: `mock`, `pin`, or the id of a run */
                        source?: string;
                        /**
                         * @description The node of the pin, or something before it, has changed since
                         * @constant
                         */
                        stale?: true;
                        /** @description When the first attempt began */
                        started_at: string | null;
                        /** @enum {string} */
                        status: "in queue" | "in progress" | "succeed" | "failed" | "not found";
                        transactions: {
                            amount: components["schemas"]["Amount"];
                            /** Format: date-time */
                            created_at: string;
                            description: string;
                            id: string;
                            /** @description Nobody has reported the tokens: they were reckoned from the number of characters */
                            is_estimated: boolean;
                            operation: string;
                            /** @description The iteration that encloses the node, such as `LOOP[3]/INNER[0]`; empty outside loops */
                            path: string;
                            reason: string;
                            run_id: string;
                            /** @enum {string} */
                            status: "Succeeded" | "Error";
                            /** Format: date-time */
                            updated_at: string;
                            user_id: number;
                        }[];
                        truncated?: boolean;
                        /**
                         * @description Of a node that only waits: what it waits for, or has waited for. Of other nodes: what they wait for now, an agent for its tool calls; absent otherwise
                         * @enum {string}
                         */
                        waited_for?: "approval" | "callback" | "child" | "connection" | "human" | "time" | "worker";
                        /** @description What a node that is in progress waits for, and until when at the latest */
                        waiting?: {
                            /**
                             * Format: uri
                             * @description Of a callback, for who may run the workflow: the address that takes it
                             */
                            callback_url?: string;
                            /** @description For which somebody has to sign in */
                            connection_id?: number;
                            /** @enum {string} */
                            for: "approval" | "callback" | "child" | "connection" | "human" | "time" | "worker";
                            /** @description Of a wait for a worker: the pool that has none */
                            pool?: string;
                            /** @description Of a sub-workflow: its run */
                            run_id?: string;
                            /** @description Of a human task */
                            task_id?: string;
                            /**
                             * Format: date-time
                             * @description Absent for a wait for a worker
                             */
                            until?: string;
                        };
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_id_history_run_id_nodes_node_id_steps: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description The enclosing iteration, such as `LOOP[3]/INNER[0]` */
                path?: string;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path: {
                id: number;
                node_id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description What the model said, secrets masked; null where it said nothing */
                            content: string | null;
                            cost: components["schemas"]["Amount"];
                            finished_at: string | null;
                            input_tokens: number | null;
                            /** @description Whether the model gave an answer instead of asking for tools */
                            is_final: boolean;
                            /** @description Counts the model calls from 1 */
                            iteration: number;
                            /** @description The contents of the page were too large in all; ask for a smaller page */
                            left_out: boolean;
                            model: string | null;
                            output_tokens: number | null;
                            /**
                             * Format: date-time
                             * @description When the last attempt of the model call began
                             */
                            started_at: string;
                            /**
                             * @description Of the model call
                             * @enum {string}
                             */
                            status: "in progress" | "succeed" | "failed";
                            /** @description Empty once the results of the run have expired */
                            tool_calls: {
                                /** @description What the model was told, secrets masked */
                                answer: string | null;
                                /** @description Null for a call that needs none */
                                approval: {
                                    request_id: string;
                                    /** @enum {string} */
                                    status: "pending" | "approved" | "rejected" | "expired";
                                } | null;
                                /** @description What the model asked for, secrets masked; a text where it is no JSON object */
                                arguments: unknown;
                                /** @description What a person has put in their place; null where nobody has */
                                edited_arguments: unknown;
                                finished_at: string | null;
                                /** @description The contents of the page were too large in all; ask for a smaller page */
                                left_out: boolean;
                                /** @description Null while there is none */
                                outcome: ("result" | "tool_error" | "rejected" | "expired" | "invalid") | null;
                                /** @description The run that the call has started, where the tool is a workflow */
                                run_id: string | null;
                                /** @description Empty for a workflow, null for a tool that does not exist */
                                server_label: string | null;
                                /** @description Null for a call that was not made */
                                started_at: string | null;
                                tool_name: string;
                            }[];
                            /** @description In the first step, where there are any: the tools of MCP servers that the agent is not offered */
                            warnings?: {
                                message: string;
                                server_label: string;
                                tool_name: string;
                            }[];
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_id_history_run_id_re_run: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
                /** @description `wait=N`: seconds that the answer may take until the run has ended */
                Prefer?: string;
            };
            path: {
                id: number;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
                "text/plain": string;
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunEnvelope"];
                };
            };
            /** @description What `ServiceError` reads. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ({
                        code: string;
                        data: {
                            data: {
                                [key: string]: components["schemas"]["NodeResult"];
                            } | null;
                            detail?: string;
                            errors?: {
                                code: string;
                                message: string;
                                node_id?: string;
                            }[];
                            id: string | null;
                            /** @description The value of the first output node that has ended, any JSON; absent until then. It never changes */
                            output?: unknown;
                            /** @enum {string} */
                            status: "in queue" | "in progress" | "succeed" | "failed" | "not found";
                            /** @description Rises with every change of the run, though not by one. The `ETag` of a poll changes with it */
                            version?: number;
                        };
                        detail: string;
                        status: number;
                    } | components["schemas"]["BadRequest"]) | components["schemas"]["Error"];
                };
            };
        };
    };
    post_workflows_id_history_run_id_resume: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
                /** @description `wait=N`: seconds that the answer may take until the run has ended */
                Prefer?: string;
            };
            path: {
                id: number;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description Repeat calls of which nobody knows what they have done
                     * @default false
                     */
                    accept_unknown?: boolean;
                    /**
                     * @description `now`: a result is taken over only where its node and all before it are as they were
                     * @default then
                     * @enum {string}
                     */
                    drawing?: "then" | "now";
                    /** @description The nodes that begin anew, with all that follow them */
                    from?: string[];
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunEnvelope"];
                };
            };
            /** @description What `ServiceError` reads. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": (({
                        code: string;
                        data: {
                            data: {
                                [key: string]: components["schemas"]["NodeResult"];
                            } | null;
                            detail?: string;
                            errors?: {
                                code: string;
                                message: string;
                                node_id?: string;
                            }[];
                            id: string | null;
                            /** @description The value of the first output node that has ended, any JSON; absent until then. It never changes */
                            output?: unknown;
                            /** @enum {string} */
                            status: "in queue" | "in progress" | "succeed" | "failed" | "not found";
                            /** @description Rises with every change of the run, though not by one. The `ETag` of a poll changes with it */
                            version?: number;
                        };
                        detail: string;
                        status: number;
                    } | components["schemas"]["BadRequest"]) | components["schemas"]["BadRequest"]) | components["schemas"]["Error"];
                };
            };
        };
    };
    post_workflows_id_history_run_id_toggle_api_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    is_api_run: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_id_history_run_id_toggle_marketplace_example: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    use_in_marketplace_example: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_id_history_run_id_toggle_marketplace_use: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    use_as_marketplace_template: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_id_hooks: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description As whom the runs are started */
                            author: {
                                id: number;
                                name: string;
                            };
                            /** Format: date-time */
                            created_at: string;
                            /** @description Of `hmac-sha256`: the header with the signature */
                            header: string | null;
                            id: number;
                            /** @description Why deliveries start no runs; null: they do. The author may not run the workflow any more */
                            inactive_reason: "author_lost_access" | null;
                            /** @description The last one that was not throttled */
                            last_delivery: {
                                /** Format: date-time */
                                at: string;
                                /** @description The HTTP status that it was answered with */
                                status: number;
                            } | null;
                            /**
                             * Format: uri
                             * @description Where deliveries are sent to, for its author and owners of the project
                             */
                            url?: string;
                            /** @enum {string} */
                            verify: "none" | "standard-webhooks" | "hmac-sha256";
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_id_hooks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Of `hmac-sha256`: the header with the signature, X-Hub-Signature-256 where none is given */
                    header?: string | null;
                    /** @description One that the sender has already; without it a new one is made */
                    secret?: string | null;
                    /**
                     * @description How a sender proves that it has the secret
                     * @enum {string}
                     */
                    verify: "none" | "standard-webhooks" | "hmac-sha256";
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description As whom the runs are started */
                        author: {
                            id: number;
                            name: string;
                        };
                        /** Format: date-time */
                        created_at: string;
                        /** @description Of `hmac-sha256`: the header with the signature */
                        header: string | null;
                        id: number;
                        /** @description Why deliveries start no runs; null: they do. The author may not run the workflow any more */
                        inactive_reason: "author_lost_access" | null;
                        /** @description The last one that was not throttled */
                        last_delivery: {
                            /** Format: date-time */
                            at: string;
                            /** @description The HTTP status that it was answered with */
                            status: number;
                        } | null;
                        /** @description What the sender signs with, shown only here; absent where nothing is signed */
                        secret?: string;
                        /**
                         * Format: uri
                         * @description Where deliveries are sent to, for its author and owners of the project
                         */
                        url?: string;
                        /** @enum {string} */
                        verify: "none" | "standard-webhooks" | "hmac-sha256";
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    delete_workflows_id_hooks_hook_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                hook_id: number;
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    patch_workflows_id_hooks_hook_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                hook_id: number;
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Null: a new one is made */
                    secret: string | null;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description As whom the runs are started */
                        author: {
                            id: number;
                            name: string;
                        };
                        /** Format: date-time */
                        created_at: string;
                        /** @description Of `hmac-sha256`: the header with the signature */
                        header: string | null;
                        id: number;
                        /** @description Why deliveries start no runs; null: they do. The author may not run the workflow any more */
                        inactive_reason: "author_lost_access" | null;
                        /** @description The last one that was not throttled */
                        last_delivery: {
                            /** Format: date-time */
                            at: string;
                            /** @description The HTTP status that it was answered with */
                            status: number;
                        } | null;
                        /** @description What the sender signs with, shown only here; absent where nothing is signed */
                        secret?: string;
                        /**
                         * Format: uri
                         * @description Where deliveries are sent to, for its author and owners of the project
                         */
                        url?: string;
                        /** @enum {string} */
                        verify: "none" | "standard-webhooks" | "hmac-sha256";
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_id_input_fields: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    }[];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_workflows_id_pins: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pin"][];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    put_workflows_id_pins_node_id: {
        parameters: {
            query?: {
                /** @description The enclosing iteration, such as `LOOP[3]/INNER[0]` */
                path?: string;
            };
            header?: never;
            path: {
                id: number;
                node_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    result: {
                        [key: string]: unknown;
                    };
                } | {
                    error: {
                        code: string;
                        message?: string;
                    };
                } | {
                    /** Format: uuid */
                    from_run: string;
                    /** @description The enclosing iteration, such as `LOOP[3]/INNER[0]` */
                    path?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pin"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    delete_workflows_id_pins_node_id: {
        parameters: {
            query?: {
                /** @description The enclosing iteration, such as `LOOP[3]/INNER[0]` */
                path?: string;
            };
            header?: never;
            path: {
                id: number;
                node_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_id_publish_on_marketplace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_id_reorder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    sort_id: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_id_run: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
                /** @description `wait=N`: seconds that the answer may take until the run has ended */
                Prefer?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
                "text/plain": string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunEnvelope"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_id_schedules: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description As whom the runs are started */
                            author: {
                                id: number;
                                name: string;
                            };
                            catchup_seconds: number;
                            /** Format: date-time */
                            created_at: string;
                            cron: string;
                            /** Format: uuid */
                            id: string;
                            /** @description As it leaves the service: secrets masked. Null: its key was withdrawn */
                            input: unknown;
                            is_paused: boolean;
                            jitter_seconds: number;
                            last_firing: {
                                /**
                                 * Format: date-time
                                 * @description The time that it was meant for
                                 */
                                at: string;
                                /** @description Why no run was started */
                                refusal: {
                                    code: string;
                                    message: string;
                                } | null;
                                run_id: string | null;
                            } | null;
                            /** @description The next five at most; empty while it is paused. Null: the engine does not answer or has not been told yet */
                            next_run_times: string[] | null;
                            /** @enum {string} */
                            overlap: "skip" | "buffer_one" | "allow_all" | "cancel_other";
                            /** @description Why the service has paused it: the author may not run the workflow any more. Null: a person has paused it, or it is not paused */
                            pause_reason: "author_lost_access" | null;
                            time_zone: string;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_id_schedules: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description How late a firing may come that the engine has slept through; an older one is left out
                     * @default 300
                     */
                    catchup_seconds?: number;
                    /** @description Minute, hour, day of month, month, day of week, as in crontab: `0 8 * * MON-FRI` */
                    cron: string;
                    /** @description The input of its runs: an object, an array or a text */
                    input?: unknown;
                    /** @default false */
                    is_paused?: boolean;
                    /**
                     * @description Each firing comes late by up to so much, at random
                     * @default 0
                     */
                    jitter_seconds?: number;
                    /**
                     * @description What a firing does while a run of the schedule is open
                     * @default skip
                     * @enum {string}
                     */
                    overlap?: "skip" | "buffer_one" | "allow_all" | "cancel_other";
                    /**
                     * @description A name of the IANA database, such as `Europe/Berlin`
                     * @default UTC
                     */
                    time_zone?: string;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description As whom the runs are started */
                        author: {
                            id: number;
                            name: string;
                        };
                        catchup_seconds: number;
                        /** Format: date-time */
                        created_at: string;
                        cron: string;
                        /** Format: uuid */
                        id: string;
                        /** @description As it leaves the service: secrets masked. Null: its key was withdrawn */
                        input: unknown;
                        is_paused: boolean;
                        jitter_seconds: number;
                        last_firing: {
                            /**
                             * Format: date-time
                             * @description The time that it was meant for
                             */
                            at: string;
                            /** @description Why no run was started */
                            refusal: {
                                code: string;
                                message: string;
                            } | null;
                            run_id: string | null;
                        } | null;
                        /** @description The next five at most; empty while it is paused. Null: the engine does not answer or has not been told yet */
                        next_run_times: string[] | null;
                        /** @enum {string} */
                        overlap: "skip" | "buffer_one" | "allow_all" | "cancel_other";
                        /** @description Why the service has paused it: the author may not run the workflow any more. Null: a person has paused it, or it is not paused */
                        pause_reason: "author_lost_access" | null;
                        time_zone: string;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    delete_workflows_id_schedules_schedule_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    patch_workflows_id_schedules_schedule_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
                schedule_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description How late a firing may come that the engine has slept through; an older one is left out */
                    catchup_seconds?: number;
                    /** @description Minute, hour, day of month, month, day of week, as in crontab: `0 8 * * MON-FRI` */
                    cron?: string;
                    /** @description The input of its runs: an object, an array or a text */
                    input?: unknown;
                    is_paused?: boolean;
                    /** @description Each firing comes late by up to so much, at random */
                    jitter_seconds?: number;
                    /**
                     * @description What a firing does while a run of the schedule is open
                     * @enum {string}
                     */
                    overlap?: "skip" | "buffer_one" | "allow_all" | "cancel_other";
                    /** @description A name of the IANA database, such as `Europe/Berlin` */
                    time_zone?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description As whom the runs are started */
                        author: {
                            id: number;
                            name: string;
                        };
                        catchup_seconds: number;
                        /** Format: date-time */
                        created_at: string;
                        cron: string;
                        /** Format: uuid */
                        id: string;
                        /** @description As it leaves the service: secrets masked. Null: its key was withdrawn */
                        input: unknown;
                        is_paused: boolean;
                        jitter_seconds: number;
                        last_firing: {
                            /**
                             * Format: date-time
                             * @description The time that it was meant for
                             */
                            at: string;
                            /** @description Why no run was started */
                            refusal: {
                                code: string;
                                message: string;
                            } | null;
                            run_id: string | null;
                        } | null;
                        /** @description The next five at most; empty while it is paused. Null: the engine does not answer or has not been told yet */
                        next_run_times: string[] | null;
                        /** @enum {string} */
                        overlap: "skip" | "buffer_one" | "allow_all" | "cancel_other";
                        /** @description Why the service has paused it: the author may not run the workflow any more. Null: a person has paused it, or it is not paused */
                        pause_reason: "author_lost_access" | null;
                        time_zone: string;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_id_test: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
                /** @description `wait=N`: seconds that the answer may take until the run has ended */
                Prefer?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A drawing that is not stored; `********` in it is the stored value */
                    drawing?: Record<string, unknown>;
                    /** @description Whether `********` is the value in the draft of the caller; where that has none, the stored one */
                    from_draft?: boolean;
                    /** @description Without it the trigger is taken like any other node */
                    input?: {
                        [key: string]: unknown;
                    };
                    /** @description The most that the test may cost. A model call beyond it is not made: `budget_exceeded` */
                    max_cost?: string;
                    /**
                     * @description By node: what it puts out in place of being executed; at most 1,000
                     * @default {}
                     */
                    mocks?: {
                        [key: string]: unknown;
                    };
                    /**
                     * @description `node`: that node alone. `up_to`: what it needs, and itself. `from`: itself, and what follows
                     * @enum {string}
                     */
                    mode: "node" | "up_to" | "from";
                    node: string;
                    /** @description The iteration in which a node of a body is tried; the first one by default */
                    path?: string;
                    /**
                     * @description Whether waits for a time, and delays between attempts, are over at once
                     * @default false
                     */
                    skip_waits?: boolean;
                    /** @default true */
                    use_pins?: boolean;
                };
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunEnvelope"];
                };
            };
            /** @description What `ServiceError` reads. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": (components["schemas"]["InvalidDrawing"] | {
                        /** @constant */
                        code: "results_missing";
                        detail: string;
                        /** @description Nodes that are read, and of which there is no result */
                        missing: string[];
                    } | components["schemas"]["BadRequest"]) | components["schemas"]["Error"] | components["schemas"]["RunEnvelope"];
                };
            };
        };
    };
    get_workflows_id_tool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The short description; if that description is empty, a sentence with the title */
                        description: string;
                        /** @description JSON Schema of the arguments, from the trigger's fields */
                        input_schema: {
                            [key: string]: unknown;
                        };
                        is_tool: boolean;
                        /** @description Words of the title, and the id. The name changes with the title */
                        name: string;
                        /**
                         * Format: uri
                         * @description Where MCP clients connect to, with an API key as bearer token
                         */
                        url: string;
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    post_workflows_id_unpublish_from_marketplace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_id_versions: {
        parameters: {
            query?: {
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                /** @description Above 100 it counts as 100. */
                size?: number;
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description The user who made it */
                            author: number;
                            /** Format: date-time */
                            created_at: string;
                            is_current: boolean;
                            version: number;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_id_versions_version: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The user who made it */
                        author: number;
                        /** Format: date-time */
                        created_at: string;
                        data: {
                            [key: string]: unknown;
                        };
                        is_current: boolean;
                        version: number;
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    post_workflows_id_versions_version_restore: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of an earlier answer; nothing is changed when it is no longer the present one */
                "If-Match"?: string;
            };
            path: {
                id: number;
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_execution_update_workflow_run_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workflow_run_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    error?: {
                        code: string;
                        message: string;
                        node_id?: string;
                    } | null;
                    /** Format: date-time */
                    finished_at?: string;
                    nodes?: {
                        [key: string]: {
                            error: {
                                code: string;
                                message: string;
                            };
                            /** @constant */
                            status: "failed";
                        };
                    };
                    sequence: number;
                    /** @enum {string} */
                    status: "in progress" | "succeed" | "failed" | "cancelled";
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        applied: boolean;
                        run_status: string;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_get_nodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What the nodes in the body of a loop can read of it: `item` stands for `{{ LOOP.item }}` */
                        readonly body_variables?: string[];
                        /** @description Under which heading an editor offers the kind */
                        category: string;
                        description: string;
                        /** @description By which a node is left: `id` is the `sourceHandle` of an edge, `field` holds the target in the data of the node. Empty where it is left by its `next_nodes` */
                        handles: {
                            /**
                             * @description What can be reached by the handle is the body of a loop: an editor draws it as one part
                             * @constant
                             */
                            body?: true;
                            field: string;
                            id: string;
                            label: string;
                            /** @description The handle is only taken while these fields of the data have these values */
                            when?: {
                                [key: string]: string;
                            };
                        }[];
                        /** @description The field in the data of the node whose items `{id, label?, node}` are further handles */
                        handles_from?: string;
                        /**
                         * @description The node is left by its `next_nodes`, too, although it has handles
                         * @constant
                         */
                        has_next_nodes?: true;
                        /**
                         * @description That list may be absent, and the node is then left by its `next_nodes`
                         * @constant
                         */
                        is_list_optional?: true;
                        node_type: string;
                        output_schema: {
                            [key: string]: unknown;
                        };
                        schema: {
                            [key: string]: unknown;
                        };
                        title: string;
                        type: string;
                        version: string;
                    }[];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_workflows_marketplace: {
        parameters: {
            query?: {
                categories?: number[];
                languages?: string;
                marketplace_date_last_publication_after?: string;
                marketplace_date_last_publication_before?: string;
                ordering?: "total_cost" | "-total_cost" | "last_run_at" | "-last_run_at" | "created_at" | "-created_at";
                page?: number;
                /** @description Above 100 it counts as 100. */
                page_size?: number;
                search?: string;
                /** @description Above 100 it counts as 100. */
                size?: number;
                subcategories?: number[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            available_languages: string[];
                            /** @description The caller's copy, or -1. */
                            copied_workflow_id: number;
                            free_runs_per_user: number;
                            id: number;
                            last_run_at: string | null;
                            market_title: string;
                            marketplace_price_avg: components["schemas"]["Amount"];
                            readme_guide: string;
                            /** @description USD, for a succeeded run of a copy beyond the free ones. */
                            run_fee: string;
                            short_description: string;
                            slug: string;
                            total_runs_count: number;
                            total_users_count: number;
                        }[];
                        page: number;
                        size: number;
                        total: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_marketplace_slug: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        available_languages: string[];
                        /** @description The caller's copy, or -1. */
                        copied_workflow_id: number;
                        free_runs_per_user: number;
                        id: number;
                        last_run_at: string | null;
                        market_title: string;
                        marketplace_price_avg: components["schemas"]["Amount"];
                        readme_guide: string;
                        /** @description USD, for a succeeded run of a copy beyond the free ones. */
                        run_fee: string;
                        short_description: string;
                        slug: string;
                        total_runs_count: number;
                        total_users_count: number;
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    post_workflows_marketplace_slug_add_from_marketplace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        author: number;
                        available_languages: string[];
                        can_edit: boolean;
                        categories: number[];
                        copied_from: number | null;
                        /** Format: date-time */
                        created_at: string;
                        data: {
                            [key: string]: unknown;
                        };
                        free_runs_per_user: number;
                        id: number;
                        /** @description Whether it has conversations, and is a model of `/v1/chat/completions` */
                        is_chat: boolean;
                        is_published: boolean;
                        /** @description Whether `/mcp` offers it as a tool to everybody who may run it */
                        is_tool: boolean;
                        market_title: string;
                        /** @description USD, of a run with the runs below it; null: no limit */
                        max_run_cost: string | null;
                        project: number;
                        readme_guide: string;
                        role: components["schemas"]["Role"];
                        run_fee: string;
                        short_description: string;
                        slug: string | null;
                        sort_id: number;
                        subcategories: number[];
                        /** @description At most 10, in the order in which they were given */
                        tags: string[];
                        title: string;
                        /** Format: date-time */
                        updated_at: string;
                        /** @description Of the drawing, from 1; rises with each change of what it runs */
                        version: number;
                        warnings: {
                            message: string;
                            /** @description The name of the node; null: the whole file */
                            node: string | null;
                        }[];
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_workflows_marketplace_slug_examples: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        cost: components["schemas"]["Amount"];
                        /** Format: date-time */
                        created_at: string;
                        /** @description Absent where it is too large for a list, and the contents of result with it */
                        data?: {
                            [key: string]: unknown;
                        };
                        id: string;
                        /** @description Absent where it is too large for a list; the single read has it */
                        input_data?: unknown;
                        result: {
                            [key: string]: components["schemas"]["NodeResult"];
                        };
                        /**
                         * @description data or input_data is left out
                         * @constant
                         */
                        truncated?: true;
                    }[];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_workflows_marketplace_slug_examples_run_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        cost: components["schemas"]["Amount"];
                        /** Format: date-time */
                        created_at: string;
                        data: {
                            [key: string]: unknown;
                        };
                        id: string;
                        input_data: unknown;
                        result: {
                            [key: string]: components["schemas"]["NodeResult"];
                        };
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    post_workflows_mcp_tools: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A connection of a project in which the caller is an editor */
                    connection?: number | null;
                    endpoint_url: string;
                    headers?: {
                        [key: string]: string | number | boolean;
                    } | null;
                    node_id?: string | null;
                    timeout?: number | null;
                    transport?: ("auto" | "sse" | "streamable_http") | null;
                    workflow_id?: number | null;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    }[];
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_workflow_result: {
        parameters: {
            query: {
                id: string;
            };
            header?: {
                /** @description The `ETag` of an earlier answer */
                "If-None-Match"?: string;
                /** @description `wait=N`: seconds that the answer may take until the run has ended */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunEnvelope"];
                };
            };
            /** @description Nothing has changed; no body. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_workflow_result_events: {
        parameters: {
            query: {
                id: string;
                /** @description Events `delta` are sent, too: what models write, as it comes */
                include?: "deltas";
            };
            header?: {
                /** @description The `id` of the last event that was received: the stream goes on behind it */
                "Last-Event-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunEnvelope"];
                    "text/event-stream": string;
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_workflows_workflow_run_workflow_run_id_agent_approval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workflow_run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What the model asks for, secrets masked; null once it has expired */
                        arguments: unknown;
                        /** @description SHA-256 of exactly what the tool would get, in hexadecimal (docs/use/approvers.md) */
                        arguments_hash: string;
                        /** Format: date-time */
                        created_at: string;
                        decided_at: string | null;
                        /** @description Whose decision has settled the request; null while none has */
                        decided_by: {
                            id: number;
                            name: string;
                        } | null;
                        /** @description Who has decided so far, in their order */
                        decisions: {
                            /** @description Of the arguments that were decided on; approvals of others do not count */
                            arguments_hash: string;
                            /** Format: date-time */
                            decided_at: string;
                            decided_by: {
                                id: number;
                                name: string;
                            };
                            /** @enum {string} */
                            decision: "approved" | "rejected";
                            reason: string;
                        }[];
                        /** @description What a person has put in the place of `arguments`, and the tool would get; null where nobody has */
                        edited_arguments: unknown;
                        /** @description Whether `requested_by` may not decide */
                        exclude_starter: boolean;
                        /** Format: date-time */
                        expires_at: string;
                        node_id: string;
                        node_label: string;
                        /** @description The iteration that encloses the node, such as `LOOP[3]/INNER[0]`; empty outside loops */
                        path: string;
                        project: {
                            id: number;
                            name: string;
                        };
                        project_id: number;
                        /** @enum {string} */
                        purpose: "run" | "test" | "assistant";
                        reason: string;
                        request_id: string;
                        /** @description Who started the run */
                        requested_by: {
                            id: number;
                            name: string;
                        };
                        /** @description How many different people must approve */
                        required: number;
                        /** @description Who may decide; null for all three */
                        roles: ("editor" | "admin" | "owner")[] | null;
                        run_id: string;
                        /** @description Empty where the tool is a workflow */
                        server_label: string;
                        /** @enum {string} */
                        status: "pending" | "approved" | "rejected" | "expired";
                        tool_name: string;
                        workflow: {
                            id: number;
                            title: string;
                        };
                        workflow_id: number;
                    }[];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    post_workflows_workflow_run_workflow_run_id_agent_approval_request_id_approve: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                request_id: string;
                workflow_run_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description What the tool gets instead of what the model has asked for */
                    arguments?: Record<string, unknown>;
                    /** @description Of the arguments that you have seen; others are a 409 */
                    arguments_hash?: string;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            decision: ("approved" | "rejected" | "expired" | "pending") | null;
                            detail?: string;
                            id: string;
                            request_id: string;
                            status: string;
                        };
                        status: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_workflows_workflow_run_workflow_run_id_agent_approval_request_id_reject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                request_id: string;
                workflow_run_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            decision: ("approved" | "rejected" | "expired" | "pending") | null;
                            detail?: string;
                            id: string;
                            request_id: string;
                            status: string;
                        };
                        status: number;
                    };
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    get_docs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_docs_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/png": string;
                    "text/css": string;
                    "text/javascript": string;
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_mcp: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `id` of the last event that was received */
                "Last-Event-Id"?: string;
                /** @description The version that was agreed on */
                "Mcp-Protocol-Version"?: string;
                /** @description As the answer to `initialize` has given it */
                "Mcp-Session-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            default: components["responses"]["BadRequestOrError"];
        };
    };
    post_mcp: {
        parameters: {
            query?: never;
            header?: {
                /** @description `application/json` and `text/event-stream` */
                Accept?: string;
                /** @description The version that was agreed on */
                "Mcp-Protocol-Version"?: string;
                /** @description As the answer to `initialize` has given it */
                "Mcp-Session-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    id?: string | number;
                    /** @constant */
                    jsonrpc: "2.0";
                    method?: string;
                    params?: Record<string, unknown>;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error?: {
                            code: number;
                            message: string;
                        };
                        id: (string | number) | null;
                        /** @constant */
                        jsonrpc: "2.0";
                        result?: {
                            [key: string]: unknown;
                        };
                    };
                    "text/event-stream": string;
                };
            };
            /** @description Taken; it is done soon. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What `ServiceError` reads. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ({
                        error?: {
                            code: number;
                            message: string;
                        };
                        id: (string | number) | null;
                        /** @constant */
                        jsonrpc: "2.0";
                        result?: {
                            [key: string]: unknown;
                        };
                    } | components["schemas"]["BadRequest"]) | components["schemas"]["Error"];
                };
            };
        };
    };
    post_mcp_build: {
        parameters: {
            query?: never;
            header?: {
                /** @description `application/json` and `text/event-stream` */
                Accept?: string;
                /** @description The version that was agreed on */
                "Mcp-Protocol-Version"?: string;
                /** @description As the answer to `initialize` has given it */
                "Mcp-Session-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    id?: string | number;
                    /** @constant */
                    jsonrpc: "2.0";
                    method?: string;
                    params?: Record<string, unknown>;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        error?: {
                            code: number;
                            message: string;
                        };
                        id: (string | number) | null;
                        /** @constant */
                        jsonrpc: "2.0";
                        result?: {
                            [key: string]: unknown;
                        };
                    };
                };
            };
            /** @description Taken; it is done soon. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What `ServiceError` reads. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ({
                        error?: {
                            code: number;
                            message: string;
                        };
                        id: (string | number) | null;
                        /** @constant */
                        jsonrpc: "2.0";
                        result?: {
                            [key: string]: unknown;
                        };
                    } | components["schemas"]["BadRequest"]) | components["schemas"]["Error"];
                };
            };
        };
    };
    get_metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            default: components["responses"]["Error"];
        };
    };
    get_readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        database?: boolean;
                        files?: boolean;
                        migrations?: boolean;
                        /** @enum {string} */
                        status: "ready" | "not ready";
                        temporal?: boolean;
                    };
                };
            };
            /** @description What `ServiceError` reads. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] | {
                        database?: boolean;
                        files?: boolean;
                        migrations?: boolean;
                        /** @enum {string} */
                        status: "ready" | "not ready";
                        temporal?: boolean;
                    };
                };
            };
        };
    };
    post_v1_chat_completions: {
        parameters: {
            query?: never;
            header?: {
                /** @description Of workflows: the same key starts only one run */
                "Idempotency-Key"?: string;
                "X-Project-Id"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    best_of?: unknown;
                    max_completion_tokens?: unknown;
                    max_tokens?: unknown;
                    /** @description Chat messages, each with role and content; judged by the provider. */
                    messages: unknown[];
                    /** @description Decides which provider is asked. */
                    model: string;
                    n?: unknown;
                    stream?: unknown;
                    stream_options?: unknown;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                    "text/event-stream": string;
                };
            };
            /** @description What `ServiceError` reads. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": (components["schemas"]["ChatError"] | unknown) | (components["schemas"]["Error"] | unknown) | components["schemas"]["ChatError"];
                };
            };
        };
    };
    get_v1_models: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            /** @description Unix time; 0, because providers do not tell it */
                            created: number;
                            /** @description `workflow:ID` where the model is a workflow */
                            id: string;
                            /** @description The title of the workflow */
                            name?: string;
                            /** @constant */
                            object: "model";
                            /** @description The name of the provider, or of the project of the workflow */
                            owned_by: string;
                        }[];
                        /** @constant */
                        object: "list";
                    };
                };
            };
            default: components["responses"]["ChatErrorOrError"];
        };
    };
}
