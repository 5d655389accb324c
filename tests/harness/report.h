// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A report's document made by hand, with texts that a stranger would like to see run.
#pragma once

#include <criterion/criterion.h>
#include <jansson.h>

#define REPORT_HOSTILE "<script>alert(1)</script>"

static const char report_text[] =
    "{'format':'tapml.report/2','verdict':'wrong',"
    " 'run':{'name':'run-<script>alert(1)</script>','host':'0.1.0','compiler':'c','decode':4,"
    "  'capacity':64,'chunk':16,'keep':'first','prompts_hash':'p','derive_seed':1},"
    " 'model':{'hash':'h','name':'m<script>alert(1)</script>','architecture':'a','ops':2,"
    "  'config':{'model_type':'<script>alert(1)</script>','hidden_size':8},'parameters':12345,"
    "  'weight_bytes':{'f32':49380}},"
    " 'source':{'backend':'one','component':'c','device':'d','device_name':'n','driver':'',"
    "  'plugin':'p','plugin_version':'1','build':'b'},"
    " 'limits':{'factor':8,'component':'one','devices':'x y'},"
    " 'carving':{'prompts':2,'calls':20,'time_ns':1000,'cases':4},"
    " 'targets':[{'name':'gpu<script>alert(1)</script>','verdict':'wrong','backend':'two',"
    "  'component':'c','device':'d','device_name':'<script>alert(1)</script>','driver':'v&',"
    "  'plugin':'p','plugin_version':'1','build':'b','faults':'','finished_s':1795269720,"
    "  'driver_check':{'verdict':'passed','sentence':'11 checks passed'},'common':'',"
    "  "
    "'counts':{'instances':2,'wanted':2,'moved':1,'blamed':1,'unsupported_instances':0,'cases':4,'"
    "passed':1,"
    "   'failed':1,'errors':1,'unsupported':0,'skipped':1,'derived':1,'derived_failed':0,"
    "   'derived_not_judged':1},"
    "  'end_to_end':{'agrees':true,'margin':0.5,'sentence':'all is as it was','unexplained':''},"
    "  'search':{'carving':20,'moves':4,'replays':3,'judged_runs':2,'plans':0,'repeats':50,"
    "   'proof':4,'judged_anyway':0,'calibration':9,'checks':0,'proof_runs':1,'proof_miss':0},"
    "  'blamed':[{'instance':'layers.0/<script>alert(1)</script>','op':'tapml.silu','alone':true,"
    "   'evidence':'case',"
    "   'margin':'Infinity','reason':'y[1] is "
    "NaN','cases':2,'failed':1,'tries':50,'failed_tries':3,"
    "   'case':{'id':1,'instance':'layers.0/<script>alert(1)</script>','op':'tapml.silu',"
    "    'source':'carved','label':'','phase':'decode','shape_class':'x=[1,4]','verdict':'fail',"
    "    'margin':'Infinity','output':'y','reason':'y[1] is NaN','time_ns':5,'beyond':1,"
    "    'elements':4,'values':[{'param':'y','place':'0, 1','expected':0.25,'computed':'NaN',"
    "    'difference':'NaN','allowed':1e-7}],'prompt':0,'step':3,'tokens':1},"
    "   'bundle':{'file':'FAULT-1.tapmlrun','shape_class':'x=[1,1]',"
    "    'command':'tapml-host replay FAULT-1.tapmlrun --backend two'}}],"
    "  'grid':{'columns':['tapml.silu','org.example.my_op'],'rows':[{'name':'layers.0','cells':["
    "   {'state':'wrong','margin':'Infinity','instances':1},"
    "   {'state':'right','margin':0.25,'instances':1}]}]},"
    "  'ops':[{'op':'tapml.silu','class':'elementwise','instances':1,'moved':0,'cases':2,"
    "   'passed':0,'failed':1,'unsupported':0,'skipped':1,'margin':'Infinity',"
    "   'derived':{'shape':{'cases':1,'failed':0,'not_judged':1,'margin':0}},'source_ns':500,"
    "   'source_calls':10,'cases_source_ns':100,'cases_target_ns':200,'run_ns':0,'run_calls':0,"
    "   'run_launches':0},"
    "   {'op':'org.example.my_op','class':'reduction','instances':1,'moved':1,'cases':2,"
    "   'passed':1,'failed':1,'unsupported':0,'skipped':0,'margin':0.25,'derived':{},"
    "   'source_ns':500,'source_calls':10,'cases_source_ns':100,'cases_target_ns':200,"
    "   'run_ns':10,'run_calls':2,'run_launches':4}],"
    "  'steps':[{'step':'move silu','verdict':'kept','reason':'fine','margin':0.5,'time_ns':7},"
    "   {'step':'search move silu 1','verdict':'diverges','reason':'no','margin':2,'time_ns':7}],"
    "  'offload_ns':14,"
    "  'not_compared':[{'what':'case skipped','op':'tapml.silu','count':1,"
    "   'reason':'<script>alert(1)</script>','first':'layers.0/x'}],"
    "  'instances':[{'instance':'layers.0/<script>alert(1)</script>','op':'tapml.silu',"
    "   'state':'wrong','margin':'Infinity','cases':2,'failed':1,'not_compared':1,'replay_ns':5},"
    "   {'instance':'layers.0/b','op':'org.example.my_op','state':'right','margin':0.25,'cases':2,"
    "   'failed':1,'not_compared':0,'replay_ns':10}],"
    "  'cases':[{'id':1,'instance':'layers.0/<script>alert(1)</script>','op':'tapml.silu',"
    "    'source':'carved','label':'','phase':'decode','shape_class':'x=[1,4]','verdict':'fail',"
    "    'margin':'Infinity','output':'y','reason':'y[1] is \\u0001NaN','time_ns':5},"
    "   {'id':2,'instance':'layers.0/<script>alert(1)</script>','op':'tapml.silu',"
    "    'source':'carved','label':'','phase':'prefill','shape_class':'x=[2,4]',"
    "    'verdict':'skipped','margin':null,'output':'','reason':'too <large>','time_ns':0},"
    "   {'id':3,'instance':'layers.0/b','op':'org.example.my_op','source':'carved','label':'',"
    "    'phase':'decode','shape_class':'','verdict':'pass','margin':0.25,'output':'y',"
    "    'reason':'','time_ns':1500000000},"
    "   {'id':4,'instance':'layers.0/b','op':'org.example.my_op','source':'carved','label':'',"
    "    'phase':'decode','shape_class':'','verdict':'error','margin':null,'output':'',"
    "    'reason':'lost','time_ns':500000000}],"
    "  'derived':[{'id':1,'instance':'layers.0/b','op':'tapml.silu','source':'shape',"
    "    'label':'n=33','phase':'decode','shape_class':'n=33','verdict':'skipped','margin':null,"
    "    'output':'','reason':'no such shape'}]}]}";

// The document, with each single quote read as a double one. The caller owns it.
static inline json_t *report_make(void)
{
    char text[sizeof(report_text)];
    json_error_t error;

    for (size_t i = 0; i < sizeof(report_text); i++) {
        text[i] = report_text[i] == '\'' ? '"' : report_text[i];
    }
    json_t *report = json_loads(text, 0, &error);

    cr_assert_not_null(report, "%s at %d", error.text, error.position);
    return report;
}
