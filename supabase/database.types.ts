export type Json =
  | string
  | number
  | boolean
  | null
  | { [key: string]: Json | undefined }
  | Json[]

export type Database = {
  // Allows to automatically instantiate createClient with right options
  // instead of createClient<Database, { PostgrestVersion: 'XX' }>(URL, KEY)
  __InternalSupabase: {
    PostgrestVersion: "12"
  }
  public: {
    Tables: {
      chunks: {
        Row: {
          chunk_id: string
          comment_id: number | null
          created_at: string
          embedding: string
          embedding_set: number
          input_hash: string
          kind: string
          model: string
          position: number
          project_id: number
          status_change_id: number | null
          text: string
          ticket_id: number | null
          tokens: number
        }
        Insert: {
          chunk_id?: string
          comment_id?: number | null
          created_at?: string
          embedding: string
          embedding_set?: number
          input_hash: string
          kind: string
          model: string
          position: number
          project_id: number
          status_change_id?: number | null
          text: string
          ticket_id?: number | null
          tokens: number
        }
        Update: {
          chunk_id?: string
          comment_id?: number | null
          created_at?: string
          embedding?: string
          embedding_set?: number
          input_hash?: string
          kind?: string
          model?: string
          position?: number
          project_id?: number
          status_change_id?: number | null
          text?: string
          ticket_id?: number | null
          tokens?: number
        }
        Relationships: [
          {
            foreignKeyName: "chunks_comment_id_fkey"
            columns: ["comment_id"]
            referencedRelation: "comments"
            referencedColumns: ["comment_id"]
          },
          {
            foreignKeyName: "chunks_project_id_fkey"
            columns: ["project_id"]
            referencedRelation: "projects"
            referencedColumns: ["project_id"]
          },
          {
            foreignKeyName: "chunks_status_change_id_fkey"
            columns: ["status_change_id"]
            referencedRelation: "status_changes"
            referencedColumns: ["status_change_id"]
          },
          {
            foreignKeyName: "chunks_ticket_id_project_id_fkey"
            columns: ["ticket_id", "project_id"]
            referencedRelation: "tickets"
            referencedColumns: ["ticket_id", "project_id"]
          },
        ]
      }
      comment_entries: {
        Row: {
          comment_id: number
          language: string
          length: number
          project_id: number
          ticket_id: number
          words: unknown
        }
        Insert: {
          comment_id: number
          language: string
          length: number
          project_id: number
          ticket_id: number
          words: unknown
        }
        Update: {
          comment_id?: number
          language?: string
          length?: number
          project_id?: number
          ticket_id?: number
          words?: unknown
        }
        Relationships: [
          {
            foreignKeyName: "comment_entries_comment_id_fkey"
            columns: ["comment_id"]
            referencedRelation: "comments"
            referencedColumns: ["comment_id"]
          },
          {
            foreignKeyName: "comment_entries_project_id_fkey"
            columns: ["project_id"]
            referencedRelation: "projects"
            referencedColumns: ["project_id"]
          },
          {
            foreignKeyName: "comment_entries_ticket_id_project_id_fkey"
            columns: ["ticket_id", "project_id"]
            referencedRelation: "tickets"
            referencedColumns: ["ticket_id", "project_id"]
          },
        ]
      }
      comments: {
        Row: {
          author: string | null
          body: string
          comment_id: number
          created_at: string
          key: string | null
          ticket_id: number
          updated_at: string
          visible_text: string | null
        }
        Insert: {
          author?: string | null
          body: string
          comment_id?: number
          created_at?: string
          key?: string | null
          ticket_id: number
          updated_at?: string
          visible_text?: never
        }
        Update: {
          author?: string | null
          body?: string
          comment_id?: number
          created_at?: string
          key?: string | null
          ticket_id?: number
          updated_at?: string
          visible_text?: never
        }
        Relationships: [
          {
            foreignKeyName: "comments_ticket_id_fkey"
            columns: ["ticket_id"]
            referencedRelation: "tickets"
            referencedColumns: ["ticket_id"]
          },
        ]
      }
      document_chunks: {
        Row: {
          chunk_id: string
          created_at: string
          document_id: string
          input_hash: string
          position: number
          text: string
          tokens: number
        }
        Insert: {
          chunk_id?: string
          created_at?: string
          document_id: string
          input_hash: string
          position: number
          text: string
          tokens: number
        }
        Update: {
          chunk_id?: string
          created_at?: string
          document_id?: string
          input_hash?: string
          position?: number
          text?: string
          tokens?: number
        }
        Relationships: [
          {
            foreignKeyName: "document_chunks_document_id_fkey"
            columns: ["document_id"]
            referencedRelation: "documents"
            referencedColumns: ["id"]
          },
        ]
      }
      document_votes: {
        Row: {
          document_id: string
          helpful: boolean
          user_id: string | null
          vote_id: number
          voted_at: string
        }
        Insert: {
          document_id: string
          helpful: boolean
          user_id?: string | null
          vote_id?: never
          voted_at?: string
        }
        Update: {
          document_id?: string
          helpful?: boolean
          user_id?: string | null
          vote_id?: never
          voted_at?: string
        }
        Relationships: [
          {
            foreignKeyName: "document_votes_document_id_fkey"
            columns: ["document_id"]
            referencedRelation: "documents"
            referencedColumns: ["id"]
          },
        ]
      }
      documents: {
        Row: {
          archived: boolean
          content: string
          created_at: string
          embedding_status: string
          enriched_at: string | null
          enriched_entities: NonNullable<Json>
          enriched_keywords: string[]
          enrichment_error: string | null
          enrichment_model: string | null
          given_temporal_class: string | null
          helpful_votes: number
          id: string
          keywords: string[]
          last_retrieved_at: string | null
          named_entities: NonNullable<Json>
          origin: string | null
          retrieval_count: number
          retrieval_queries: string[]
          temporal_class: string | null
          title: string
          unhelpful_votes: number
          updated_at: string
          upserted_keywords: string[] | null
          utility_base: number
          utility_score: number
          visible_text: string | null
        }
        Insert: {
          archived?: boolean
          content?: string
          created_at?: string
          embedding_status?: string
          enriched_at?: string | null
          enriched_entities?: NonNullable<Json>
          enriched_keywords?: string[]
          enrichment_error?: string | null
          enrichment_model?: string | null
          given_temporal_class?: string | null
          helpful_votes?: number
          id?: string
          keywords?: string[]
          last_retrieved_at?: string | null
          named_entities?: NonNullable<Json>
          origin?: string | null
          retrieval_count?: number
          retrieval_queries?: string[]
          temporal_class?: string | null
          title: string
          unhelpful_votes?: number
          updated_at?: string
          upserted_keywords?: string[] | null
          utility_base: number
          utility_score?: number
          visible_text?: never
        }
        Update: {
          archived?: boolean
          content?: string
          created_at?: string
          embedding_status?: string
          enriched_at?: string | null
          enriched_entities?: NonNullable<Json>
          enriched_keywords?: string[]
          enrichment_error?: string | null
          enrichment_model?: string | null
          given_temporal_class?: string | null
          helpful_votes?: number
          id?: string
          keywords?: string[]
          last_retrieved_at?: string | null
          named_entities?: NonNullable<Json>
          origin?: string | null
          retrieval_count?: number
          retrieval_queries?: string[]
          temporal_class?: string | null
          title?: string
          unhelpful_votes?: number
          updated_at?: string
          upserted_keywords?: string[] | null
          utility_base?: number
          utility_score?: number
          visible_text?: never
        }
        Relationships: []
      }
      embeddings: {
        Row: {
          chunk_id: string | null
          created_at: string
          document_id: string
          embedding: string
          embedding_id: number
          model: string | null
        }
        Insert: {
          chunk_id?: string | null
          created_at?: string
          document_id: string
          embedding: string
          embedding_id?: never
          model?: string | null
        }
        Update: {
          chunk_id?: string | null
          created_at?: string
          document_id?: string
          embedding?: string
          embedding_id?: never
          model?: string | null
        }
        Relationships: [
          {
            foreignKeyName: "embeddings_chunk_id_document_id_fkey"
            columns: ["chunk_id", "document_id"]
            referencedRelation: "document_chunks"
            referencedColumns: ["chunk_id", "document_id"]
          },
          {
            foreignKeyName: "embeddings_document_id_fkey"
            columns: ["document_id"]
            referencedRelation: "documents"
            referencedColumns: ["id"]
          },
        ]
      }
      keyword_entries: {
        Row: {
          body_length: number
          keyword_entry_id: number
          language: string
          project_id: number
          ticket_id: number | null
          title_length: number
          title_words: unknown
          words: unknown
        }
        Insert: {
          body_length: number
          keyword_entry_id?: never
          language: string
          project_id: number
          ticket_id?: number | null
          title_length: number
          title_words: unknown
          words: unknown
        }
        Update: {
          body_length?: number
          keyword_entry_id?: never
          language?: string
          project_id?: number
          ticket_id?: number | null
          title_length?: number
          title_words?: unknown
          words?: unknown
        }
        Relationships: [
          {
            foreignKeyName: "keyword_entries_project_id_fkey"
            columns: ["project_id"]
            referencedRelation: "projects"
            referencedColumns: ["project_id"]
          },
          {
            foreignKeyName: "keyword_entries_ticket_id_project_id_fkey"
            columns: ["ticket_id", "project_id"]
            referencedRelation: "tickets"
            referencedColumns: ["ticket_id", "project_id"]
          },
        ]
      }
      project_members: {
        Row: {
          created_at: string
          project_id: number
          role: Database["public"]["Enums"]["project_role"]
          user_id: string
        }
        Insert: {
          created_at?: string
          project_id: number
          role?: Database["public"]["Enums"]["project_role"]
          user_id: string
        }
        Update: {
          created_at?: string
          project_id?: number
          role?: Database["public"]["Enums"]["project_role"]
          user_id?: string
        }
        Relationships: [
          {
            foreignKeyName: "project_members_project_id_fkey"
            columns: ["project_id"]
            referencedRelation: "projects"
            referencedColumns: ["project_id"]
          },
        ]
      }
      projects: {
        Row: {
          created_at: string
          description: string | null
          key: string
          language: string | null
          name: string
          project_id: number
          updated_at: string
          visible_text: string | null
        }
        Insert: {
          created_at?: string
          description?: string | null
          key: string
          language?: string | null
          name: string
          project_id?: number
          updated_at?: string
          visible_text?: never
        }
        Update: {
          created_at?: string
          description?: string | null
          key?: string
          language?: string | null
          name?: string
          project_id?: number
          updated_at?: string
          visible_text?: never
        }
        Relationships: []
      }
      search_config: {
        Row: {
          current_weight: number
          dated_weight: number
          evergreen_weight: number
          freshness_weight: number
          historical_weight: number
          keyword_weight: number
          language: string
          only_row: boolean
          similarity_weight: number
          unknown_weight: number
          utility_weight: number
        }
        Insert: {
          current_weight?: number
          dated_weight?: number
          evergreen_weight?: number
          freshness_weight?: number
          historical_weight?: number
          keyword_weight?: number
          language?: string
          only_row?: boolean
          similarity_weight?: number
          unknown_weight?: number
          utility_weight?: number
        }
        Update: {
          current_weight?: number
          dated_weight?: number
          evergreen_weight?: number
          freshness_weight?: number
          historical_weight?: number
          keyword_weight?: number
          language?: string
          only_row?: boolean
          similarity_weight?: number
          unknown_weight?: number
          utility_weight?: number
        }
        Relationships: []
      }
      status: {
        Row: {
          category: string
          name: string
          status_id: number
        }
        Insert: {
          category: string
          name: string
          status_id?: number
        }
        Update: {
          category?: string
          name?: string
          status_id?: number
        }
        Relationships: []
      }
      status_changes: {
        Row: {
          created_at: string
          note: string | null
          status_change_id: number
          status_id: number | null
          ticket_id: number
          updated_at: string
          visible_text: string | null
        }
        Insert: {
          created_at?: string
          note?: string | null
          status_change_id?: number
          status_id?: number | null
          ticket_id: number
          updated_at?: string
          visible_text?: never
        }
        Update: {
          created_at?: string
          note?: string | null
          status_change_id?: number
          status_id?: number | null
          ticket_id?: number
          updated_at?: string
          visible_text?: never
        }
        Relationships: [
          {
            foreignKeyName: "status_changes_status_id_fkey"
            columns: ["status_id"]
            referencedRelation: "status"
            referencedColumns: ["status_id"]
          },
          {
            foreignKeyName: "status_changes_ticket_id_fkey"
            columns: ["ticket_id"]
            referencedRelation: "tickets"
            referencedColumns: ["ticket_id"]
          },
        ]
      }
      ticket_links: {
        Row: {
          created_at: string
          kind: string
          other_ticket_id: number
          ticket_id: number
        }
        Insert: {
          created_at?: string
          kind: string
          other_ticket_id: number
          ticket_id: number
        }
        Update: {
          created_at?: string
          kind?: string
          other_ticket_id?: number
          ticket_id?: number
        }
        Relationships: [
          {
            foreignKeyName: "ticket_links_other_ticket_id_fkey"
            columns: ["other_ticket_id"]
            referencedRelation: "tickets"
            referencedColumns: ["ticket_id"]
          },
          {
            foreignKeyName: "ticket_links_ticket_id_fkey"
            columns: ["ticket_id"]
            referencedRelation: "tickets"
            referencedColumns: ["ticket_id"]
          },
        ]
      }
      tickets: {
        Row: {
          assignee: string | null
          created_at: string
          description: string | null
          due_date: string | null
          key: string
          labels: string[]
          name: string
          priority: string | null
          project_id: number
          reporter: string | null
          resolved_at: string | null
          source_id: string | null
          status_id: number
          ticket_id: number
          ticket_type: string | null
          updated_at: string
          url: string | null
          visible_text: string | null
        }
        Insert: {
          assignee?: string | null
          created_at?: string
          description?: string | null
          due_date?: string | null
          key: string
          labels?: string[]
          name: string
          priority?: string | null
          project_id: number
          reporter?: string | null
          resolved_at?: string | null
          source_id?: string | null
          status_id: number
          ticket_id?: number
          ticket_type?: string | null
          updated_at?: string
          url?: string | null
          visible_text?: never
        }
        Update: {
          assignee?: string | null
          created_at?: string
          description?: string | null
          due_date?: string | null
          key?: string
          labels?: string[]
          name?: string
          priority?: string | null
          project_id?: number
          reporter?: string | null
          resolved_at?: string | null
          source_id?: string | null
          status_id?: number
          ticket_id?: number
          ticket_type?: string | null
          updated_at?: string
          url?: string | null
          visible_text?: never
        }
        Relationships: [
          {
            foreignKeyName: "tickets_project_id_fkey"
            columns: ["project_id"]
            referencedRelation: "projects"
            referencedColumns: ["project_id"]
          },
          {
            foreignKeyName: "tickets_status_id_fkey"
            columns: ["status_id"]
            referencedRelation: "status"
            referencedColumns: ["status_id"]
          },
        ]
      }
    }
    Views: {
      [_ in never]: never
    }
    Functions: {
      abandon_reembed: { Args: Record<PropertyKey, never>; Returns: boolean }
      attach_tables: {
        Args: { views: Json }
        Returns: {
          kind: string
          rows: number
          tables: string
          view: string
        }[]
      }
      begin_import: {
        Args: { format?: string; origin?: string; project_keys?: string[] }
        Returns: {
          import_id: number
          import_origin: string
        }[]
      }
      begin_reembed: {
        Args: { chunking: number; embedding_model: string }
        Returns: number
      }
      caller_role: { Args: Record<PropertyKey, never>; Returns: string }
      check_installation: {
        Args: { embedding_model?: string }
        Returns: {
          finding: string
          remedy: string
          severity: string
          subject: string
        }[]
      }
      claim_embedding_jobs: {
        Args: {
          attempt_limit?: number
          job_limit?: number
          kind?: string
          lease_seconds?: number
        }
        Returns: {
          jobs: Json
          lease_id: string
          next_due_seconds: number
        }[]
      }
      clear_retired_set: {
        Args: { after?: string; row_limit?: number }
        Returns: string
      }
      copy_changes: { Args: { row_limit?: number }; Returns: number }
      count_tickets: {
        Args: {
          ascending?: boolean
          filters?: Json
          group_by?: string
          match_count?: number
          period?: string
          query_text?: string
          sort?: string
          time_zone?: string
        }
        Returns: {
          count: number
          count_capped: boolean
          groups: Json
          tickets: Json
        }[]
      }
      data_version: {
        Args: { filters?: Json; project_filter?: number }
        Returns: {
          match_thresholds: Json
          model: string
          version: string
        }[]
      }
      delete_document: { Args: { doc_id: string }; Returns: boolean }
      detach_tables: {
        Args: { keep_rows?: boolean }
        Returns: {
          rows: number
          what: string
        }[]
      }
      embedding_sets: {
        Args: Record<PropertyKey, never>
        Returns: {
          chunking: number
          match_thresholds: Json
          model: string
          other_chunking: number
          other_model: string
          other_state: string
          serving: number
        }[]
      }
      embedding_status: {
        Args: { embedding_model: string }
        Returns: {
          blocked_by: string
          chunks: number
          dead: number
          failed: number
          oldest_pending_seconds: number
          pending: number
          refused_rows: number
          running: number
          sources_without_chunks: number
          truncated: number
          waiting_copies: number
          waiting_languages: number
        }[]
      }
      enqueue_missing_embeddings: {
        Args: {
          embedding_model: string
          embedding_set?: number
          everything?: boolean
        }
        Returns: number
      }
      enrichment_stats: {
        Args: Record<PropertyKey, never>
        Returns: {
          enriched: number
          failed: number
          total: number
          unenriched: number
        }[]
      }
      explain_query: {
        Args: { filters?: Json; query_text: string }
        Returns: {
          candidates: Json
          corrected: Json
          excluded: string[]
          ignored: string[]
          languages: string[]
          unknown_keys: string[]
        }[]
      }
      extend_embedding_leases: {
        Args: { lease_ids: string[]; lease_seconds?: number }
        Returns: number
      }
      fail_embedding_jobs: {
        Args: {
          attempt_limit?: number
          error: string
          job_ids: number[]
          lease_id: string
          retry_seconds?: number
        }
        Returns: number
      }
      find_documents_by_entity: {
        Args: {
          entity_name: string
          entity_type?: string
          match_limit?: number
        }
        Returns: {
          id: string
          matched_entity: string
          matched_type: string
          title: string
        }[]
      }
      find_filter_values: {
        Args: { close?: boolean; filters: Json }
        Returns: {
          exact: boolean
          member: string
          spelling: string
          value: string
        }[]
      }
      find_similar_documents: {
        Args: { doc_id: string; match_count?: number }
        Returns: {
          id: string
          similarity: number
          title: string
        }[]
      }
      find_similar_tickets: {
        Args: {
          embedding_model?: string
          filters?: Json
          match_count?: number
          ticket_id?: number
          ticket_key?: string
        }
        Returns: {
          embedded: boolean
          exclude_ticket: number
          project_name: string
          results: Json
          text: string
          ticket_name: string
        }[]
      }
      find_sources: {
        Args: { sources: Json }
        Returns: {
          place: number
          source_id: number
        }[]
      }
      finish_embedding_jobs: {
        Args: { job_ids: number[]; lease_id: string }
        Returns: number
      }
      finish_reembed: { Args: Record<PropertyKey, never>; Returns: boolean }
      get_document: {
        Args: { doc_id: string; visible?: boolean }
        Returns: {
          archived: boolean
          content: string
          created_at: string
          embedding_status: string
          enriched_at: string
          enrichment_error: string
          enrichment_model: string
          id: string
          keywords: string[]
          last_retrieved_at: string
          named_entities: Json
          retrieval_count: number
          retrieval_queries: string[]
          temporal_class: string
          title: string
          truncated: boolean
          updated_at: string
          utility_score: number
        }[]
      }
      get_ticket: {
        Args: {
          comment_id?: number
          comment_limit?: number
          comment_offset?: number
          text_offset?: number
          ticket_id?: number
          ticket_key?: string
          visible?: boolean
        }
        Returns: {
          comment_count: number
          comments: Json
          description: string
          description_truncated_at: number
          fields: Json
          project_id: number
          project_key: string
          project_name: string
          status: string
          status_category: string
          status_changes: Json
          ticket_id: number
          ticket_key: string
          ticket_name: string
        }[]
      }
      link_imported_tickets: {
        Args: { after?: number; import_id: number; match_count?: number }
        Returns: {
          examples: string[]
          last_ticket_id: number
          links: number
          unknown: number
        }[]
      }
      list_dead_embedding_jobs: {
        Args: { match_count?: number }
        Returns: {
          attempts: number
          comment_id: number
          dead_at: string
          document_id: string
          job_id: number
          last_error: string
          project_id: number
          ticket_id: number
          ticket_key: string
          title: string
        }[]
      }
      list_migrations: { Args: Record<PropertyKey, never>; Returns: string[] }
      list_projects: {
        Args: { after?: string; match_count?: number }
        Returns: {
          key: string
          language: string
          name: string
          project_id: number
          tickets: number
        }[]
      }
      list_statuses: {
        Args: { after?: number; match_count?: number }
        Returns: {
          name: string
          status_id: number
        }[]
      }
      list_tickets: {
        Args: {
          filters?: Json
          match_count?: number
          match_offset?: number
          sort?: string
        }
        Returns: {
          fields: Json
          has_more: boolean
          highlight: string
          project_id: number
          project_name: string
          status: string
          text: string
          ticket_id: number
          ticket_key: string
          ticket_name: string
        }[]
      }
      list_unenriched_documents: {
        Args: { after?: string; match_limit?: number }
        Returns: {
          attempts: number
          id: string
          last_error: string
          title: string
        }[]
      }
      log_queries: {
        Args: { entries: Json; retention_days?: number }
        Returns: {
          deleted: number
          logged: number
        }[]
      }
      may_write_project: { Args: { project_id: number }; Returns: boolean }
      measure_missing_embeddings: {
        Args: {
          embedding_model: string
          embedding_set?: number
          everything?: boolean
          sample_count?: number
        }
        Returns: {
          characters: number
          sample: number[]
          sources: number
        }[]
      }
      nearest_chunks: {
        Args: { filters?: Json; match_count?: number; query_embedding: string }
        Returns: {
          chunk_id: string
          kind: string
          project_id: number
          similarity: number
          text: string
          ticket_id: number
          ticket_key: string
        }[]
      }
      probe_statement_timeout: {
        Args: Record<PropertyKey, never>
        Returns: undefined
      }
      prune_documents: {
        Args: { listed: string[]; match_count?: number; origin: string }
        Returns: {
          documents: number
          examples: string[]
          stored: number
        }[]
      }
      prune_import: {
        Args: { import_id: number; match_count?: number }
        Returns: {
          comments: number
          examples: string[]
          listed: number
          stored: number
          ticket_links: number
          tickets: number
        }[]
      }
      rate_document: {
        Args: { doc_id: string; helpful: boolean }
        Returns: number
      }
      read_query: {
        Args: { further_filters?: Json; query_text: string; today?: string }
        Returns: {
          candidates: Json
          filters: Json
          match_thresholds: Json
          model: string
          not_read: Json
          sort: string
          text: string
          version: string
        }[]
      }
      read_sources: {
        Args: { embedding_set?: number; source_ids: number[] }
        Returns: {
          building_chunking: number
          building_set: number
          chunks: Json
          embedding_model: string
          embedding_set: number
          names: string[]
          source_hash: string
          source_id: number
          sources_read: number
          stored_truncated: boolean
          texts: Json
          truncated: boolean
        }[]
      }
      release_embedding_jobs: {
        Args: {
          delay_seconds?: number
          job_ids: number[]
          lease_id: string
          reason?: string
        }
        Returns: number
      }
      replay_embedding_jobs: {
        Args: { job_ids?: number[]; kind?: string }
        Returns: number
      }
      retrieve_chunks: {
        Args: {
          corpus?: string
          embedding_model: string
          filters?: Json
          match_count?: number
          match_threshold?: number
          query_embedding: string
          question?: string
          source_chunk_limit?: number
        }
        Returns: {
          chunk_id: string
          comment: Json
          document_id: string
          fields: Json
          kind: string
          named: boolean
          note_status: string
          over_threshold: boolean
          project_id: number
          project_key: string
          project_name: string
          similarities: number[]
          similarity: number
          status: string
          text: string
          ticket_id: number
          ticket_key: string
          ticket_name: string
          title: string
          tokens: number
          written_at: string
        }[]
      }
      search_by_keyword: {
        Args: {
          filters?: Json
          match_count?: number
          project_filter?: number
          query_text: string
          status_filter?: string
        }
        Returns: {
          exact: boolean
          keyword_score: number
          project_id: number
          rank: number
          ticket_id: number
          ticket_key: string
          ticket_name: string
        }[]
      }
      search_by_vector: {
        Args: {
          embedding_model: string
          filters?: Json
          match_count?: number
          match_threshold?: number
          project_filter?: number
          query_embedding: string
          status_filter?: string
        }
        Returns: {
          chunk_id: string
          project_id: number
          rank: number
          similarity: number
          ticket_id: number
          ticket_key: string
          ticket_name: string
        }[]
      }
      search_documents: {
        Args: {
          embedding_model?: string
          match_count?: number
          match_threshold?: number
          query_embedding: string
        }
        Returns: {
          content: string
          id: string
          similarity: number
          title: string
        }[]
      }
      search_documents_hybrid: {
        Args: {
          embedding_model?: string
          freshness_decay_days?: number
          match_count?: number
          match_threshold?: number
          query_embedding: string
          query_keywords: string[]
          track_retrievals?: boolean
        }
        Returns: {
          content: string
          final_score: number
          freshness_boost: number
          id: string
          keyword_score: number
          keywords: string[]
          similarity: number
          temporal_class: string
          temporal_weight: number
          title: string
          utility_boost: number
        }[]
      }
      search_facets: {
        Args: {
          embedding_model?: string
          filters?: Json
          filters_in_text?: boolean
          match_threshold?: number
          project_filter?: number
          query_embedding?: string
          query_text: string
          status_filter?: string
          unfinished?: boolean
        }
        Returns: {
          capped: boolean
          count: number
          facet: string
          label: string
          value: number
        }[]
      }
      search_hybrid: {
        Args: {
          embedding_model?: string
          filters?: Json
          filters_in_text?: boolean
          fusion?: string
          keyword_weight?: number
          match_count?: number
          match_offset?: number
          match_threshold?: number
          project_filter?: number
          query_embedding?: string
          query_text: string
          sort?: string
          status_filter?: string
          unfinished?: boolean
          vector_weight?: number
        }
        Returns: {
          chunk_id: string
          comment: Json
          exact: boolean
          fields: Json
          fused_score: number
          has_more: boolean
          highlight: string
          keyword_contribution: number
          keyword_rank: number
          keyword_score: number
          languages: string[]
          matched_by: string[]
          project_id: number
          project_name: string
          relaxed: boolean
          rrf_score: number
          similarity: number
          source: string
          status: string
          text: string
          ticket_id: number
          ticket_key: string
          ticket_name: string
          vector_contribution: number
          vector_rank: number
        }[]
      }
      set_project_language: {
        Args: { language: string; project_id: number }
        Returns: boolean
      }
      similar_tickets: {
        Args: {
          embedding_model: string
          exclude_ticket?: number
          filters?: Json
          match_count?: number
          query_embedding: string
          query_text?: string
        }
        Returns: {
          duplicate_score: number
          fused_score: number
          keyword_contribution: number
          keyword_rank: number
          keyword_score: number
          likely_duplicate: boolean
          project_id: number
          similarity: number
          status: string
          ticket_id: number
          ticket_key: string
          ticket_name: string
          vector_contribution: number
          vector_rank: number
        }[]
      }
      store_chunks: {
        Args: {
          chunks: Json
          embedding_set?: number
          embeddings: string[]
          sources: Json
        }
        Returns: {
          embedding_ids: string[]
          source_id: number
          stored: boolean
        }[]
      }
      store_enrichment: {
        Args: {
          keywords: string[]
          model: string
          named_entities: Json
          source_hash: string
          source_id: number
          temporal_class: string
        }
        Returns: boolean
      }
      store_match_thresholds: { Args: { thresholds: Json }; Returns: undefined }
      track_document_retrieval: {
        Args: { doc_id: string; query_text: string }
        Returns: undefined
      }
      track_document_retrievals: {
        Args: { doc_ids: string[]; query_text: string }
        Returns: undefined
      }
      unanswered_questions: {
        Args: { days?: number; match_count?: number }
        Returns: {
          best_similarity: number
          last_asked_at: string
          question: string
          times: number
        }[]
      }
      unreadable_views: {
        Args: Record<PropertyKey, never>
        Returns: {
          finding: string
          kind: string
          reason: string
        }[]
      }
      upsert_documents: {
        Args: { documents: Json }
        Returns: {
          created: boolean
          embedding_status: string
          id: string
        }[]
      }
      upsert_projects: {
        Args: { import_id?: number; projects: Json; take_over?: boolean }
        Returns: {
          cut: string
          held_by: string
          key: string
          project_id: number
          reason: string
        }[]
      }
      upsert_tickets: {
        Args: { import_id?: number; take_over?: boolean; tickets: Json }
        Returns: {
          comment_ids: number[]
          cut: string
          held_by: string
          key: string
          project_id: number
          reason: string
          ticket_id: number
        }[]
      }
      user_id_of: { Args: { subject: string }; Returns: string }
      visible_texts: { Args: { texts: string[] }; Returns: string[] }
    }
    Enums: {
      project_role: "viewer" | "member" | "admin"
    }
    CompositeTypes: {
      [_ in never]: never
    }
  }
}

type DatabaseWithoutInternals = Omit<Database, "__InternalSupabase">

type DefaultSchema = DatabaseWithoutInternals[Extract<keyof Database, "public">]

export type Tables<
  DefaultSchemaTableNameOrOptions extends
    | keyof (DefaultSchema["Tables"] & DefaultSchema["Views"])
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends (DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"] &
        DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Views"])
    : never) = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"] &
      DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Views"])[TableName] extends {
      Row: infer R
    }
    ? R
    : never
  : DefaultSchemaTableNameOrOptions extends keyof (DefaultSchema["Tables"] &
        DefaultSchema["Views"])
    ? (DefaultSchema["Tables"] &
        DefaultSchema["Views"])[DefaultSchemaTableNameOrOptions] extends {
        Row: infer R
      }
      ? R
      : never
    : never

export type TablesInsert<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema["Tables"]
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends (DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"]
    : never) = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"][TableName] extends {
      Insert: infer I
    }
    ? I
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema["Tables"]
    ? DefaultSchema["Tables"][DefaultSchemaTableNameOrOptions] extends {
        Insert: infer I
      }
      ? I
      : never
    : never

export type TablesUpdate<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema["Tables"]
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends (DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"]
    : never) = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"][TableName] extends {
      Update: infer U
    }
    ? U
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema["Tables"]
    ? DefaultSchema["Tables"][DefaultSchemaTableNameOrOptions] extends {
        Update: infer U
      }
      ? U
      : never
    : never

export type Enums<
  DefaultSchemaEnumNameOrOptions extends
    | keyof DefaultSchema["Enums"]
    | { schema: keyof DatabaseWithoutInternals },
  EnumName extends (DefaultSchemaEnumNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"]
    : never) = never,
> = DefaultSchemaEnumNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"][EnumName]
  : DefaultSchemaEnumNameOrOptions extends keyof DefaultSchema["Enums"]
    ? DefaultSchema["Enums"][DefaultSchemaEnumNameOrOptions]
    : never

export type CompositeTypes<
  PublicCompositeTypeNameOrOptions extends
    | keyof DefaultSchema["CompositeTypes"]
    | { schema: keyof DatabaseWithoutInternals },
  CompositeTypeName extends (PublicCompositeTypeNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"]
    : never) = never,
> = PublicCompositeTypeNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"][CompositeTypeName]
  : PublicCompositeTypeNameOrOptions extends keyof DefaultSchema["CompositeTypes"]
    ? DefaultSchema["CompositeTypes"][PublicCompositeTypeNameOrOptions]
    : never

export const Constants = {
  public: {
    Enums: {
      project_role: ["viewer", "member", "admin"],
    },
  },
} as const

