cudnn_ci_unit_test(summary_test SOURCES summary_test.cc verdict_test.cc clean_event_test.cc LINK cci_model)
cudnn_ci_unit_test(merge_test SOURCES merge_test.cc LINK cci_model)
cudnn_ci_unit_test(report_test SOURCES
  attestation_test.cc compare_test.cc expected_images_test.cc html_test.cc journal_test.cc journal_writer_test.cc
  junit_test.cc junit_case_test.cc console_test.cc golden_reports_test.cc facts_report_test.cc report_test.cc
  summary_report_test.cc mask_test.cc skip_table_test.cc suspects_test.cc
  LINK cci_review nlohmann_json::nlohmann_json)
cudnn_ci_compile_apart(compare_test.cc expected_images_test.cc facts_report_test.cc golden_reports_test.cc report_test.cc
  verdict_test.cc)
